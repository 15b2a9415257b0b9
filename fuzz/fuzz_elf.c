/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files as reports read them: compressed or not; structure, build-id, debuglink, symbols, PLT
 * names; and places for probes. */
#include "fuzz.h"

#include "elf/probe_place.h"
#include "symbol/elfcode.h"
#include "symbol/elfsym.h"

#include <stdlib.h>
#include <string.h>

static void check_place(const struct probe_place *place, void *data _unused_)
{
	if (!place->name || strlen(place->name) > SIZE_MAX / 2 ||
	    (place->provider && strlen(place->provider) > SIZE_MAX / 2))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	_cleanup_(symtab_freep) struct symtab *objects = symtab_new();
	_cleanup_(elffile_closep) struct elffile *ef = NULL, *packed = NULL;
	_cleanup_(elfcode_freep) struct elfcode *code = NULL;
	/* libelf may write into the memory that it is given: the input stays as it is. */
	_cleanup_free_ uint8_t *copy = malloc(size + 1);
	const char *link;
	uint32_t crc;
	size_t i;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	(void)elffile_open_packed(data, size, "input", &packed, NULL);
	if (elffile_open_memory(copy, size, "input", &ef, NULL) < 0)
		return 0;
	(void)elffile_debuglink(ef, &link, &crc);
	probe_place_functions(ef, check_place, NULL);
	probe_place_marks(ef, check_place, NULL);
	(void)elfsym_load(ef, NULL, ELFSYM_FILE_OFFSET, st);
	(void)elfsym_load(ef, ef, ELFSYM_FROM_TEXT, st);
	elfsym_load_plt(ef, st);
	code = elfcode_new(ef);
	elfcode_limit(code, st);
	symtab_settle(st);
	(void)symtab_find(st, size);
	(void)elfsym_load_objects(ef, NULL, objects);
	symtab_settle(objects);
	(void)elfcode_fill(code, "input", objects, st);
	for (i = 1; i < symtab_count(st); i++)
		if (symtab_at(st, i)->offset < symtab_at(st, i - 1)->offset)
			abort();
	return 0;
}
