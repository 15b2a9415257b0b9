/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes debug information: line tables and inlined calls as DWARF 4, one compilation unit, for
 * those addresses alone that somebody will ask for. Any reader of DWARF understands it.
 *
 *	struct linetable *t = linetable_new(true, false);
 *	linetable_add(t, 0x1000, "/src/a.c", 7);
 *	linetable_add(t, 0x1004, "/src/a.c", 9);
 *	linetable_end(t, 0x1010);		code up to here
 *	linetable_finish(t, &sections);		borrowed from t
 *	linetable_free(t);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct linetable;

struct linetable_section {
	const char *name; /* ".debug_line" */
	const void *bytes;
	size_t size;
};

enum { LINETABLE_SECTIONS = 4 };

/* For a machine with @is_64 addresses of 8 bytes, else 4, of the byte order @big_endian. Caller
 * frees. */
struct linetable *linetable_new(bool is_64, bool big_endian);
void linetable_free(struct linetable *t);
DEFINE_CLEANUP(struct linetable *, linetable_free);

/* From @address on code is of line @line of @file (the string is copied). Addresses rise up to the
 * next linetable_end(). @file NULL: no line is known. */
void linetable_add(struct linetable *t, uint64_t address, const char *file, unsigned int line);
/* The run of code ends before @address. */
void linetable_end(struct linetable *t, uint64_t address);
/* Starts the function @name (as linked; copied), whose code is from @start up to @end: the inlined
 * calls that follow lie in it. */
void linetable_function(struct linetable *t, const char *name, uint64_t start, uint64_t end);
/* Starts a call that was inlined into the function, or the call, that is open: code from @start up
 * to @end is of @name, called on line @line of @file. Closed by linetable_leave(). */
void linetable_enter(struct linetable *t, const char *name, const char *file, unsigned int line,
		     uint64_t start, uint64_t end);
void linetable_leave(struct linetable *t);
/* Whether any line was added. */
bool linetable_any(const struct linetable *t);
/* Writes the sections; nothing can be added afterwards. */
void linetable_finish(struct linetable *t, struct linetable_section ret[LINETABLE_SECTIONS]);
