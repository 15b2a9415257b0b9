/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined functions as rows of a report: with --inlines, inlined code counts for the function that
 * was called, not for the symbol that contains it. All inlined calls of a function in an image are
 * one row; if lines are shown, there is one row for each line.
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
	struct row_place place;	   /* of the call, if places distinguish calls */
	uint64_t address;	   /* start of its code that was first looked up */
	uint32_t row;		   /* set by the caller: number of its row; UINT32_MAX at first */
};

/* Creates the inlined calls of the image of @lines. @c keeps the names; both are borrowed. Caller
 * frees. */
struct inline_rows *inline_rows_new(struct container *c, struct lines *lines, bool by_place);
/* NULL is fine. */
void inline_rows_free(struct inline_rows *in);
/* Finds the inlined calls that the code at @address belongs to, the innermost first. Returns their
 * number; the array *@ret is valid until the next call, the elements until inline_rows_free(). Fast
 * if addresses come in ascending order. */
size_t inline_rows_find(struct inline_rows *in, uint64_t address,
			struct inline_rows_call *const **ret);
