/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line table of one unit of DWARF, version 2 to 5: rows that map addresses to lines, and the
 * source files that they name. Paths are composed on demand.
 *
 *	struct dwarf_lines *l = dwarf_lines_read(unit);
 *	row = dwarf_lines_find(l, address);
 *	if (row && row->line)
 *		path = dwarf_lines_path(l, row->file);	borrowed, or NULL
 *	dwarf_lines_free(l);
 */
#pragma once

#include "base/arena.h"
#include "dwarf/internal/dwarf_file.h"

struct dwarf_line_row {
	uint64_t address;
	uint32_t file; /* UINT32_MAX: end of a sequence */
	uint32_t line;
};

struct dwarf_lines;

/* Reads the table of the unit (of the skeleton, if it is split); NULL if it has none. Caller
 * frees. */
struct dwarf_lines *dwarf_lines_read(const struct dwarf_unit *u);
/* NULL is fine. */
void dwarf_lines_free(struct dwarf_lines *l);

/* The row of the code at @address, or NULL. Fast for ascending addresses. */
const struct dwarf_line_row *dwarf_lines_find(struct dwarf_lines *l, uint64_t address);
/* The path of a file by its number, as compiled, after the directory of compilation if relative; or
 * NULL. Caller frees. */
char *dwarf_lines_path(const struct dwarf_lines *l, uint64_t file);
/* Memory in use, in bytes. */
size_t dwarf_lines_bytes(const struct dwarf_lines *l);
