/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes an ELF file that replaces a larger one in reports: same build-id, segments and machine,
 * but only the code, symbols and lines that the caller chose. File offsets of the original remain
 * valid, since the program headers are those of the original.
 *
 * Of a core file (a kernel's memory, /proc/kcore) only the code is written.
 *
 *	struct elf_subset_run run = { 0x1000, 0x1040 };
 *	struct elf_subset s = { .ef = ef, .runs = &run, .run_count = 1 };
 *	void *bytes;
 *	size_t size;
 *
 *	if (elf_subset_write(&s, &bytes, &size, err) == 0)
 *		free(bytes);
 */
#pragma once

#include "elf/elffile.h"

struct line_table_section;

/* Code to keep, by address. */
struct elf_subset_run {
	uint64_t start, end;
};

struct elf_subset_symbol {
	const char *name;
	const char *next; /* string to put after it in the string table, or NULL: gprof, and so
			   * opgprof, looks at that for names with a dot */
	uint64_t address, size;
	bool is_go; /* the Go compiler made its code */
};

struct elf_subset {
	const struct elffile *ef;
	const struct elf_subset_run *runs; /* sorted, not overlapping */
	size_t run_count;
	const struct elf_subset_symbol *symbols;
	size_t symbol_count;
	const struct line_table_section *debug; /* LINE_TABLE_SECTIONS of them, or NULL */
};

/* Makes the file in memory; caller frees *@ret. 0 or -errno. */
int elf_subset_write(const struct elf_subset *s, void **ret, size_t *ret_size, struct error *err);
