/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a segment of segments: merges their trees by name and key, adds up their slices to longer
 * ones, and folds what is rare. Slices of different generations stay apart, so that a reader can
 * take some from here and others from a finer level.
 *
 *	struct segment_rolling how = { .slice_ms = 60000, .part = 1000000, .other = other };
 *	segment_roll(&how, inputs, count, &bytes);
 *
 * The same with one segment in memory at a time:
 *
 *	r = segment_roll_new();
 *	segment_roll_add(r, first);
 *	segment_roll_add(r, second);
 *	segment_roll_end(r, &how, &bytes);
 *	segment_roll_free(r);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "history/segment.h"
#include "history/segment_tree.h"

#include <stddef.h>

struct segment_roll;
struct strbuf;

struct segment_rolling {
	struct segment_about about; /* ->level, ->first and ->last */
	int64_t slice_ms;	    /* length of the new slices */
	bool is_small;		    /* it is kept for long: takes more time to make it smaller */
	uint64_t part;	      /* what has less than this part of the counts is folded; 0: nothing */
	segment_other *other; /* what rare roots are folded into */
	const struct segment_functions *functions; /* what rare leaves are folded into; or NULL */
};

/* Adds the bytes of the segment made of @inputs, which must be loaded and are unloaded then, in
 * order, to @out. Slices that are damaged are left out; returns how many, or -errno. */
int segment_roll(const struct segment_rolling *how, struct segment *const *inputs, size_t count,
		 struct strbuf *out);

/* Begins a roll-up; the caller frees. */
struct segment_roll *segment_roll_new(void);
/* NULL is allowed. */
void segment_roll_free(struct segment_roll *r);
DEFINE_CLEANUP(struct segment_roll *, segment_roll_free);
/* Merges the tree of @s, which must be loaded, and unloads it. @s is borrowed: segment_roll_end()
 * reads its counts. Returns how many nodes there are in all. */
size_t segment_roll_add(struct segment_roll *r, struct segment *s);
/* Adds the bytes of the segment made of all that was added, in this order, to @out; once only.
 * Slices that are damaged are left out; returns how many, or -errno. */
int segment_roll_end(struct segment_roll *r, const struct segment_rolling *how, struct strbuf *out);
