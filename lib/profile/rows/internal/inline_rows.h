/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined functions as functions of a report: for --inlines the code that a compiler put in place
 * of a call counts as the called function's, not as that of the symbol it lies in. Calls of one
 * function in an image are one, or, where lines are shown, those on one line.
 *
 *	struct inline_rows *in = inline_rows_new(&container, lines, true);
 *	n = inline_rows_find(in, address, &calls);
 *	for (i = 0; i < n; i++)
 *		...calls[i]->symbol, the innermost first
 *	inline_rows_free(in);				before lines_free()
 */
#pragma once

#include "profile/rows/container.h"

struct inline_rows;
struct lines;

struct inline_rows_call {
	struct row_symbol *symbol; /* the function, kept by the container */
	struct row_place place;	   /* of the call, if places tell calls apart */
	uint64_t address;	   /* where its code starts that was asked for first */
	uint32_t row;		   /* for the caller: its row's number; UINT32_MAX at first */
};

/* Of the image that @lines is of. @c holds names; both are borrowed. Caller frees. */
struct inline_rows *inline_rows_new(struct container *c, struct lines *lines, bool by_place);
/* NULL is fine. */
void inline_rows_free(struct inline_rows *in);
/* The calls that the code at @address is of, the innermost first: their number and, until the next
 * question, pointers to them, which themselves stay until inline_rows_free(). Fast where one asks
 * in the order of addresses. */
size_t inline_rows_find(struct inline_rows *in, uint64_t address,
			struct inline_rows_call *const **ret);
