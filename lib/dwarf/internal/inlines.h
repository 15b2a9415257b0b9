/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined calls out of DWARF. The functions of every unit that was asked for are kept, and the
 * calls in those functions, as far as memory is not needed for others.
 *
 *	struct inlines *in = inlines_new();
 *	n = inlines_find(in, unit, address, &calls);
 *	inlines_free(in);
 */
#pragma once

#include "dwarf/internal/dwarf_file.h"

struct inlines;

struct inlines_call {
	const char *function; /* as linked where that is known */
	uint64_t file;	      /* of the call: its number in the unit's line table */
	uint64_t line;	      /* likewise; 0: not known */
	uint64_t start; /* of the call's code, or of the part of it that was asked for first */
};

/* Without anything read; caller frees. */
struct inlines *inlines_new(void);
/* NULL is fine. */
void inlines_free(struct inlines *in);

/* The inlined calls that the code at @address is of, which is in the unit with the entries @u, the
 * innermost first: their number and, until the next question, themselves. Fast where one asks in
 * the order of addresses. */
size_t inlines_find(struct inlines *in, struct dwarf_unit *u, uint64_t address,
		    const struct inlines_call **ret);
/* How many bytes of entries were read since the last time that this was asked. */
uint64_t inlines_read(struct inlines *in);
