/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined calls from DWARF. Caches the functions of each unit that was asked for and, within a
 * limit of memory, the calls in them.
 *
 *	struct inlines *in = inlines_new();
 *	n = inlines_find(in, unit, address, &calls);
 *	inlines_free(in);
 */
#pragma once

#include "dwarf/internal/dwarf_file.h"

struct inlines;

struct inlines_call {
	const char *function; /* its linkage name if known */
	uint64_t file;	      /* of the call: its number in the unit's line table */
	uint64_t line;	      /* of the call; 0: not known */
	uint64_t start;	      /* of the call's code, or of the part that was looked up first */
};

/* An empty cache; caller frees. */
struct inlines *inlines_new(void);
/* NULL is fine. */
void inlines_free(struct inlines *in);

/* The inlined calls that the code at @address belongs to, innermost first; the unit @u has its
 * entries. Returns their number, and in *@ret the calls, valid until the next look-up. Fast for
 * ascending addresses. */
size_t inlines_find(struct inlines *in, struct dwarf_unit *u, uint64_t address,
		    const struct inlines_call **ret);
/* Bytes of entries read since the last call of this function. */
uint64_t inlines_read(struct inlines *in);
