/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a segment of segments: merges their trees by name and key, adds up their slices to longer
 * ones, and folds what is rare. Slices of different generations stay apart, so that a reader can
 * take some from here and others from a finer level.
 *
 *	struct segment_rolling how = { .slice_ms = 60000, .part = 1000000, .other = other };
 *	segment_roll(&how, inputs, count, &bytes);
 */
#pragma once

#include "base/error.h"
#include "history/segment.h"
#include "history/segment_tree.h"

#include <stddef.h>

struct strbuf;

struct segment_rolling {
	struct segment_about about; /* ->level, ->first and ->last */
	int64_t slice_ms;	    /* length of the new slices */
	bool is_small;		    /* it is kept for long: takes more time to make it smaller */
	uint64_t part;	      /* what has less than this part of the counts is folded; 0: nothing */
	segment_other *other; /* what rare roots are folded into */
	const struct segment_functions *functions; /* what rare leaves are folded into; or NULL */
};

/* Adds the bytes of the segment made of @inputs, in order, to @out. Slices that are damaged are
 * left out; returns how many, or -errno. */
int segment_roll(const struct segment_rolling *how, struct segment *const *inputs, size_t count,
		 struct strbuf *out);
