/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a segment in memory consists of, which is to be rolled up but never was a file. It owns its
 * memory.
 *
 *	segment_tree_init(&m.tree);
 *	node = segment_tree_append(&m.tree, 0, segment_tree_line(&m.tree, line), 0);
 *	segment_made_count(&m, node, 1);
 *	segment_made_slice(&m, &slice);
 *	s = segment_of(&m);
 */
#pragma once

#include "history/segment_slice.h"
#include "history/segment_tree.h"

#include <stddef.h>
#include <stdint.h>

struct segment_made {
	struct segment_tree tree; /* its counts are not used */
	struct segment_slice *slices;
	size_t slice_count, slice_room;
	uint32_t *nodes;  /* of the counts of all slices, one slice after the other, in no order */
	uint64_t *counts; /* of these */
	size_t count, node_room, count_room;
	size_t *ends; /* of each slice, in ->counts */
	size_t ends_room;
};

/* Adds a count to the slice that is added next. */
void segment_made_count(struct segment_made *m, uint32_t node, uint64_t count);
/* Adds a slice with the counts that were added since the one before. */
void segment_made_slice(struct segment_made *m, const struct segment_slice *slice);
/* The counts of slice @i. */
struct segment_counts segment_made_counts(const struct segment_made *m, size_t i);
void segment_made_done(struct segment_made *m);
