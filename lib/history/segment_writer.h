/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a segment: first its tree, then one slice after the other.
 *
 *	w = segment_writer_new(&tree, to, count, NULL);
 *	segment_writer_slice(w, &slice, counts, count);
 *	segment_writer_finish(w, &about, &bytes);
 *	segment_writer_free(w);
 */
#pragma once

#include "base/macro.h"
#include "base/strbuf.h"
#include "history/segment.h"

#include <stddef.h>
#include <stdint.h>

struct segment_tree;
struct segment_writer;

/* A count of a node, numbered as in the tree that the writer was made from. */
struct segment_count {
	uint32_t node;
	uint64_t count;
};

/* What the slices will have: it makes a segment a third smaller, and takes longer. */
struct segment_forecast {
	const uint64_t *counts; /* of each node by number, before folding, in all slices together */
	size_t slices;		/* about so many */
};

/* A writer of the nodes of @tree that have counts when folded, and of all above these. @to is what
 * segment_tree_fold() returned for the first @folded nodes; it is borrowed until the end, @tree and
 * @forecast for the call. @forecast is NULL if it is not known, or not worth the time. */
struct segment_writer *segment_writer_new(const struct segment_tree *tree, const uint32_t *to,
					  size_t folded, const struct segment_forecast *forecast);
void segment_writer_free(struct segment_writer *w);
DEFINE_CLEANUP(struct segment_writer *, segment_writer_free);

/* Adds a slice with @count counts; a node may have several. */
void segment_writer_slice(struct segment_writer *w, const struct segment_slice *slice,
			  const struct segment_count *counts, size_t count);
/* Adds the bytes of the segment to @out. Of @about, the level and the generations are used. Returns
 * 0; -EFBIG if it is larger than a reader accepts; -EINVAL if the forecast was wrong. */
int segment_writer_finish(struct segment_writer *w, const struct segment_about *about,
			  struct strbuf *out);
