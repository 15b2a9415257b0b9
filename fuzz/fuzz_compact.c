/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files that are reduced for a compact archive: lib/profile/compact/internal/compact_image.c.
 * All their symbols count as used; the result must open again. */
#include "fuzz.h"

#include "base/mem.h"
#include "symbol/elfsym.h"
#include "profile/binary/binary.h"
#include "profile/compact/internal/compact_image.h"
#include "profile/select/used_offsets.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL, *back = NULL;
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	/* libelf may write into the memory that it is given: the input stays as it is. */
	_cleanup_free_ uint8_t *copy = xmalloc(size + 1);
	_cleanup_free_ void *bytes = NULL;
	struct used_offsets used = { 0 };
	struct binary b;
	size_t i, written = 0;

	memcpy(copy, data, size);
	if (elffile_open_memory(copy, size, "input", &ef, NULL) < 0)
		return 0;
	(void)elfsym_load(ef, NULL, ELFSYM_FILE_OFFSET, st);
	elfsym_load_plt(ef, st);
	symtab_settle(st);
	for (i = 0; i < symtab_count(st); i++)
		used_offsets_add(&used, symtab_at(st, i)->offset);
	used_offsets_settle(&used);
	b = (struct binary){ .symtab = symtab_count(st) ? st : NULL, .file = ef };
	if (compact_image(&b, &used, false, &bytes, &written, NULL) == 0 &&
	    elffile_open_memory(bytes, written, "written", &back, NULL) < 0)
		abort();
	free(used.offsets);
	return 0;
}
