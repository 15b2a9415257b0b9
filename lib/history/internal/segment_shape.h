/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of a segment as it is on disk (internal/segment_format.h): each node has a parent, and a
 * place, which is a line and a key. There are much fewer places than nodes. All data is treated as
 * untrusted. The struct owns its memory.
 *
 *	struct segment_shape shape = { .lines = lines, .places = places, .nodes = nodes };
 *	if (segment_shape_read_places(&shape, of_places) && segment_shape_read(&shape, of_nodes))
 *		node = segment_shape_node(&shape, 1);
 *	segment_shape_done(&shape);
 */
#pragma once

#include "history/segment_tree.h"
#include "history/slice_file.h"

#include <stdbool.h>
#include <stdint.h>

struct segment_shape {
	uint32_t lines, places, nodes; /* how many there are; set by the caller */
	struct segment_node *at;       /* the places, from 1 on, without parents */
	uint32_t *parents, *place_of;  /* by node, from 1 on; NULL: not read */
};

/* Reads the places from their block. False if it is damaged. */
bool segment_shape_read_places(struct segment_shape *s, struct slice_numbers block);
/* Reads the nodes, after the places. False if their block is damaged. */
bool segment_shape_read(struct segment_shape *s, struct slice_numbers block);
/* Frees all; it can be read again. */
void segment_shape_done(struct segment_shape *s);

/* A node, from 1 on. */
static inline struct segment_node segment_shape_node(const struct segment_shape *s, uint32_t i)
{
	struct segment_node node = s->at[s->place_of[i]];

	node.parent = s->parents[i];
	return node;
}
