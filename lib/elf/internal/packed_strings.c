/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/internal/packed_strings.h"

#include "elf/internal/decompress.h"

#include <errno.h>
#include <gelf.h>
#include <inttypes.h>

/* The largest known, of browsers with debug information, have 100 megabytes. */
#define STRINGS_MAX ((uint64_t)1 << 30)

int packed_strings_check(Elf *elf, const char *path, struct error *err)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;
		GElf_Chdr packed;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_STRTAB ||
		    !(header.sh_flags & SHF_COMPRESSED) || !gelf_getchdr(scn, &packed) ||
		    packed.ch_size <= decompress_limit(header.sh_size, STRINGS_MAX))
			continue;
		return error_set(err, -EBADMSG,
				 "%s: a table of strings would unpack to %" PRIu64
				 " KiB from %" PRIu64 " KiB",
				 path, packed.ch_size >> 10, header.sh_size >> 10);
	}
	return 0;
}
