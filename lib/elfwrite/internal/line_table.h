/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes debug information: line tables and inlined calls as DWARF 4, one compilation unit, for
 * those addresses alone that somebody will ask for. Any reader of DWARF understands it.
 *
 *	struct line_table *t = line_table_new(true, false);
 *	line_table_add(t, 0x1000, "/src/a.c", 7);
 *	line_table_add(t, 0x1004, "/src/a.c", 9);
 *	line_table_end(t, 0x1010);		code up to here
 *	line_table_finish(t, sections);		borrowed from t
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

/* For a machine with @is_64 addresses of 8 bytes, else 4, of the byte order @big_endian. Caller
 * frees. */
struct line_table *line_table_new(bool is_64, bool big_endian);
void line_table_free(struct line_table *t);
DEFINE_CLEANUP(struct line_table *, line_table_free);

/* From @address on code is of line @line of @file (the string is copied). Addresses rise up to the
 * next line_table_end(). @file NULL: no line is known. */
void line_table_add(struct line_table *t, uint64_t address, const char *file, unsigned int line);
/* The run of code ends before @address. */
void line_table_end(struct line_table *t, uint64_t address);
/* Starts the function @name (as linked; copied), whose code is from @start up to @end: the inlined
 * calls that follow lie in it. */
void line_table_function(struct line_table *t, const char *name, uint64_t start, uint64_t end);
/* Starts a call that was inlined into the function, or the call, that is open: code from @start up
 * to @end is of @name, called on line @line of @file. Closed by line_table_leave(). */
void line_table_enter(struct line_table *t, const char *name, const char *file, unsigned int line,
		      uint64_t start, uint64_t end);
void line_table_leave(struct line_table *t);
/* Whether any line was added. */
bool line_table_any(const struct line_table *t);
/* Writes the sections; nothing can be added afterwards. */
void line_table_finish(struct line_table *t, struct line_table_section ret[LINE_TABLE_SECTIONS]);
