/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/elf_packed.h"

#include "base/log.h"
#include "base/span.h"
#include "elf/elffile.h"
#include "elf/internal/decompress.h"

#include <inttypes.h>
#include <string.h>

/* The largest known, .debug_info of browsers, has two gigabytes. */
#define SECTION_MAX ((uint64_t)8 << 30)

/* The size that the section says that it will have; 0 if it is not compressed. */
static uint64_t unpacked_size(const struct elf_section *s)
{
	const Elf_Data *data;
	GElf_Chdr header;

	if (s->header.sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(s->scn, &header) ? header.ch_size : 0;
	if (strncmp(s->name, ".zdebug_", strlen(".zdebug_")) != 0)
		return 0;
	/* "ZLIB", then the size, big-endian. */
	data = elf_rawdata(s->scn, NULL);
	return data && data->d_buf && data->d_size >= 12
		       ? get_be64((const uint8_t *)data->d_buf + 4)
		       : 0;
}

bool elf_packed_fits(const struct elffile *ef)
{
	struct elf_section s;
	size_t i;

	for (i = 0; i < elffile_section_count(ef); i++) {
		uint64_t size;

		if (!elffile_section(ef, i, &s))
			continue;
		size = unpacked_size(&s);
		if (size <= decompress_limit(s.header.sh_size, SECTION_MAX))
			continue;
		log_warn("%s: its section %s would unpack to %" PRIu64 " MiB from %" PRIu64
			 " KiB; its debug information is left out",
			 elffile_path(ef), s.name, size >> 20, s.header.sh_size >> 10);
		return false;
	}
	return true;
}
