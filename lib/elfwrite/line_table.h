/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes source lines and inlined calls as DWARF 4 debug information, which any DWARF reader
 * understands: one compilation unit, with the addresses that the caller adds and no others.
 *
 *	struct line_table_section sections[LINE_TABLE_SECTIONS];
 *	struct line_table *t = line_table_new(true, false);
 *
 *	line_table_add(t, 0x1000, "/src/a.c", 7);
 *	line_table_add(t, 0x1004, "/src/a.c", 9);
 *	line_table_end(t, 0x1010);
 *	line_table_finish(t, sections);
 *	...
 *	line_table_free(t);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_table;

struct line_table_section {
	const char *name; /* ".debug_line" */
	const void *bytes;
	size_t size;
};

enum { LINE_TABLE_SECTIONS = 4 };

/* An empty table for a machine with addresses of 8 bytes if @is_64, else 4. Caller frees. */
struct line_table *line_table_new(bool is_64, bool big_endian);
/* NULL is fine. */
void line_table_free(struct line_table *t);
DEFINE_CLEANUP(struct line_table *, line_table_free);

/* Code from @address on belongs to line @line of @file, which is copied; if @file is NULL its line
 * is unknown. Starts a sequence of rows unless one is open. */
void line_table_add(struct line_table *t, uint64_t address, const char *file, unsigned int line);
/* Ends the sequence: its last row covers code up to @address, which is not included. */
void line_table_end(struct line_table *t, uint64_t address);
/* Starts a function with the linkage name @name, which is copied, and code from @start up to @end.
 * The inlined calls that follow are in it. */
void line_table_function(struct line_table *t, const char *name, uint64_t start, uint64_t end);
/* Starts a call inlined into the innermost open function or call: code from @start up to @end is
 * of @name, called on line @line of @file. Ends with line_table_leave(). */
void line_table_enter(struct line_table *t, const char *name, const char *file, unsigned int line,
		      uint64_t start, uint64_t end);
/* Ends the innermost call of line_table_enter(). */
void line_table_leave(struct line_table *t);
/* Whether any code was added. */
bool line_table_any(const struct line_table *t);
/* Makes the sections, whose bytes are borrowed from @t. Nothing can be added afterwards. */
void line_table_finish(struct line_table *t, struct line_table_section ret[LINE_TABLE_SECTIONS]);
