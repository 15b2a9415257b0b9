/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind tables of ELF files with arbitrary call frame information, for both architectures. */
#include "fuzz.h"

#include "base/mem.h"
#include "elf/elffile.h"
#include "unwind/unwind.h"

#include <string.h>

static void build(void *bytes, size_t size)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	uint64_t pc;
	size_t i, count;

	if (elffile_open_memory(bytes, size, "input", &ef, NULL) < 0 ||
	    unwind_table_build(ef, rules, &table, NULL) < 0)
		return;
	(void)unwind_rules_all(rules, &count);
	for (i = 0; i < size; i += 1 + size / 64)
		if (unwind_table_pc(table, i, &pc) && unwind_table_find(table, pc) >= count)
			abort();
	if (table->pages[table->page_count] != table->row_count)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* libelf may write into the memory that it is given: the input stays as it is. */
	_cleanup_free_ uint8_t *copy = malloc(size + 1);

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	build(copy, size);
	return 0;
}
