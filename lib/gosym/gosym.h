/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of functions that the Go linker puts into each program for Go's own stack traces
 * (.gopclntab). No stripping removes it. For each function it has the name, how far the stack
 * pointer has moved at each instruction, the source lines and, since Go 1.18, the inlined calls.
 * All versions of the table since Go 1.2 are read, of little-endian machines. It is untrusted:
 * damage yields no function, no line or no name. All text is in the mapped file.
 *
 *	struct gosym *g = gosym_new(ef);
 *	struct gosym_function fn;
 *	size_t i = gosym_find(g, address);
 *	if (i < gosym_count(g) && gosym_at(g, i, &fn))
 *		puts(fn.name);				"main.(*Server).handle"
 *	gosym_free(g);
 */
#pragma once

#include "base/macro.h"
#include "base/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile;
struct gosym;

struct gosym_function {
	uint64_t start, end; /* linked addresses; the end includes padding */
	const char *name;    /* with package and receiver; borrowed from the file */
	size_t record;	     /* where the rest about it is, for this module */
};

/* A value that belongs to a range of a function's code. */
struct gosym_range {
	uint64_t start, end; /* linked addresses */
	int32_t value;
	struct span rest; /* for this module */
	uint64_t limit;	  /* the function's end */
};

struct gosym_place {
	const char *file; /* borrowed from the file */
	unsigned int line;
};

/* An inlined call. */
struct gosym_call {
	const char *function;  /* that was called; borrowed from the file */
	struct gosym_place at; /* of the call; ->file may be NULL */
	uint64_t start;	       /* of the code at hand that was inlined */
};

enum { GOSYM_DEPTH_MAX = 64 };

/* The table of @ef, which is borrowed; NULL if it has none that is usable. Caller frees. */
struct gosym *gosym_new(const struct elffile *ef);
/* NULL is fine. */
void gosym_free(struct gosym *g);
DEFINE_CLEANUP(struct gosym *, gosym_free);

/* Number of functions, in order of their addresses. */
size_t gosym_count(const struct gosym *g);
/* Reads the @i-th function; false if it is damaged. */
bool gosym_at(const struct gosym *g, size_t i, struct gosym_function *ret);
/* Index of the function that contains @address, or gosym_count(). */
size_t gosym_find(const struct gosym *g, uint64_t address);

/* Starts to list by how many bytes the function @fn has moved the stack pointer since its entry;
 * each gosym_next() then stores the next range. */
struct gosym_range gosym_stack(const struct gosym *g, const struct gosym_function *fn);
/* The next range; false at the end. Ranges are in order, without gaps. */
bool gosym_next(const struct gosym *g, struct gosym_range *r);

/* The source line of the code at @address; of inlined code, in the function that was inlined. False
 * if none is known. */
bool gosym_line(const struct gosym *g, uint64_t address, struct gosym_place *ret);
/* The inlined calls that the code at @address belongs to, innermost first. Returns their number. */
size_t gosym_inlines(const struct gosym *g, uint64_t address,
		     struct gosym_call ret[GOSYM_DEPTH_MAX]);
