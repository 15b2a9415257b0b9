/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rolls up any number of inputs with memory for a few of them: some at a time become a segment in
 * memory, in which less is folded than in the result, and these are rolled up again.
 *
 *	roll_many(&how, &(struct roll_inputs){ count, open_input, data }, &bytes);
 */
#pragma once

#include <stddef.h>

struct segment;
struct segment_rolling;
struct strbuf;

struct roll_inputs {
	size_t count;
	/* Opens and loads input @i, which the caller frees; NULL: it is left out. 0 or -errno. */
	int (*open)(void *data, size_t i, struct segment **ret);
	void *data;
};

/* Adds the bytes of the segment made of the inputs, in order, to @out. Slices that are damaged are
 * left out; returns how many, or -errno. */
int roll_many(const struct segment_rolling *how, const struct roll_inputs *inputs,
	      struct strbuf *out);
