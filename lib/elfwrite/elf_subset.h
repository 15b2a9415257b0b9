/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes an ELF file that stands for a larger one in reports: it has the same build-id, segments
 * and machine, and of code, symbols and lines only what it is given. Offsets in the original mean
 * the same in it, for its program headers still say where in the original its addresses were.
 *
 * Of a core file, the memory of a kernel, it writes the code alone.
 *
 *	struct elf_subset s = { .ef = ef, .runs = runs, .run_count = n, .symbols = symbols, ... };
 *	if (elf_subset_write(&s, &bytes, &size, err) == 0)
 *		...
 *	free(bytes);
 */
#pragma once

#include "elf/elffile.h"
#include "elfwrite/internal/line_table.h"

/* Code to keep, by address. */
struct elf_subset_run {
	uint64_t start, end;
};

struct elf_subset_symbol {
	const char *name;
	const char *next; /* what is to stand behind it in the string table, or NULL: gprof, and so
			   * opgprof, goes by that with names that have a dot */
	uint64_t address, size;
};

struct elf_subset {
	const struct elffile *ef;
	const struct elf_subset_run *runs; /* sorted, not overlapping */
	size_t run_count;
	const struct elf_subset_symbol *symbols;
	size_t symbol_count;
	const struct line_table_section *debug; /* LINE_TABLE_SECTIONS of them, or NULL */
};

/* 0 with the file's bytes, which the caller frees, or -errno. */
int elf_subset_write(const struct elf_subset *s, void **ret, size_t *ret_size, struct error *err);
