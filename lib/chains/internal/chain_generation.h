/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tree of call chains as it is read: a pair of files, or a segment that was made of pairs. The
 * numbers of images and contexts are those of the reader's names. All data read is treated as
 * untrusted. The struct owns its memory.
 *
 *	if (chain_generation_open_pair(&from, number, &g, err) > 0)
 *		for (i = 1; i < chain_generation_nodes(&g); i++)
 *			sum += chain_generation_count(&g, i);
 *	chain_generation_close(&g);
 */
#pragma once

#include "base/error.h"
#include "chains/chain.h"
#include "chains/chain_names.h"
#include "chains/chain_table.h"
#include "chains/internal/chain_past.h"
#include "history/history_name.h"
#include "history/segment.h"
#include "history/segment_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chain_generation {
	uint32_t number;

	/* A pair of files. */
	struct chain_table places, nodes;
	struct chain_past past; /* if a window is wanted */
	/* Its nodes as arrays, from chain_generation_arrays() on; else NULL. */
	uint32_t *parents, *place_of;
	uint64_t *own_counts;
	const char *absent; /* "places" or "names": its file is not there; NULL: both are */
	bool is_timeless;   /* it has no file of slices, but a window was wanted */

	/* A segment; NULL: it is a pair. */
	struct segment *segment;
	bool *wanted; /* by slice: it is in the window, and nowhere else */
	bool is_part; /* not all are */
	bool is_read; /* the nodes and their counts are there */
	bool is_bad;  /* they cannot be read: there are none */
	/* By node, of these slices: the segment's totals, or ->sums. NULL: not read. */
	const uint64_t *counts;
	uint64_t *sums;
	size_t damaged; /* bytes of slices, and of nodes */

	/* The reader's number for each of a pair's, or for each line of a segment; 0: none. A
	 * context of a segment has the image of its application, too. */
	uint32_t *images, *contexts;
	uint32_t image_count, context_count;
	size_t names_damaged;
};

/* From where a generation is read, and to what its names are added. */
struct chain_generation_from {
	const char *dir;
	const struct window *window; /* NULL: all samples */
	struct chain_names *names;
};

/* Opens a pair of files. Returns 1; 0 if it has no slice in the window; or -errno: -ENOENT if it
 * was removed meanwhile. The caller closes in any case. */
int chain_generation_open_pair(const struct chain_generation_from *from, uint32_t number,
			       struct chain_generation *ret, struct error *err);

/* Whether the counts of the pair with number @pair are taken from elsewhere. */
typedef bool chain_generation_is_taken(uint32_t pair, const void *data);
/* Opens the segment at @path, without the slices of pairs that @is_taken says, and reads its names.
 * Returns as above; -EBADMSG if it is damaged. Several threads may do so. */
int chain_generation_load_segment(const char *path, const struct window *window,
				  chain_generation_is_taken *is_taken, const void *data,
				  struct chain_generation *ret);
/* Adds the names of a segment that was opened to @names. */
void chain_generation_name_segment(struct chain_generation *g, struct chain_names *names);
/* Reads the nodes of a segment and their counts, unless they are there: they are needed by all
 * functions below but chain_generation_nodes() and _places(). False if they cannot be read; it then
 * has none, and a warning names it. Several threads may do so with one generation each. */
bool chain_generation_read(struct chain_generation *g);
/* Whether there is nothing left to read. */
static inline bool chain_generation_is_read(const struct chain_generation *g)
{
	return !g->segment || g->is_bad || g->is_read;
}
/* Warns of @bytes of slices of a segment that could not be read, if there are any. */
void chain_generation_warn_slices(const struct chain_generation *g, size_t bytes);
void chain_generation_close(struct chain_generation *g);
/* Frees the nodes of a segment and their sums, and what those of a pair need besides their file;
 * its slices can still be read. */
void chain_generation_forget_nodes(struct chain_generation *g);

/* The number of nodes, including node 0, which is none. */
static inline uint32_t chain_generation_nodes(const struct chain_generation *g)
{
	return g->segment ? (uint32_t)segment_about(g->segment)->nodes + 1 : g->nodes.count;
}

/* A node as it is stored. */
static inline struct chain_node chain_generation_stored(const struct chain_generation *g,
							uint32_t i)
{
	return *(const struct chain_node *)chain_table_at(&g->nodes, i);
}

/* The caller of a node; 0: it is a root. It may be invalid: greater than @i. */
static inline uint32_t chain_generation_parent(const struct chain_generation *g, uint32_t i)
{
	return g->segment ? segment_parent(g->segment, i) : chain_generation_stored(g, i).parent;
}

/* The number after the last of the places that nodes have. */
static inline uint32_t chain_generation_places(const struct chain_generation *g)
{
	return g->segment ? (uint32_t)segment_about(g->segment)->places + 1 : g->places.count;
}

/* The samples of the window whose chain ends in a node. */
static inline uint64_t chain_generation_count(const struct chain_generation *g, uint32_t i)
{
	if (g->segment)
		return g->counts[i];
	return g->past.counts ? g->past.counts[i] : chain_generation_stored(g, i).count;
}

/* The @at-th of the nodes that may have samples, from 0 on, in ascending order; 0: none. */
static inline uint32_t chain_generation_sampled(const struct chain_generation *g, size_t at)
{
	if (g->past.nodes)
		return at < g->past.node_count ? g->past.nodes[at] : 0;
	return at + 1 < chain_generation_nodes(g) ? (uint32_t)at + 1 : 0;
}

/* Whether a node is a whole function: it has the samples of offsets that were too rare. */
static inline bool chain_generation_is_function(const struct chain_generation *g, uint32_t i)
{
	return g->segment && segment_is_function(segment_node_at(g->segment, i).key);
}

/* The context of a root; 0: there is none. */
uint32_t chain_generation_context(const struct chain_generation *g, uint32_t i);
/* Gets the frame of a node that is no root; false if there is no such place or image. */
bool chain_generation_frame(const struct chain_generation *g, uint32_t i, struct chain_frame *ret);
/* The same by the place of nodes. *@ret_is_function: it is a whole function, as above. */
bool chain_generation_frame_at(const struct chain_generation *g, uint32_t place,
			       struct chain_frame *ret, bool *ret_is_function);
uint32_t chain_generation_context_at(const struct chain_generation *g, uint32_t place);
/* Sets what struct chain_reader_tree has, until the nodes are forgotten. False if they cannot be
 * read. */
bool chain_generation_arrays(struct chain_generation *g, const uint32_t **ret_parents,
			     const uint32_t **ret_place_of, const uint64_t **ret_counts);
/* The samples of what is rare. */
uint64_t chain_generation_folded(struct chain_generation *g);
/* Calls @each for all arcs, as chain_reader_arcs() does. */
void chain_generation_arcs(struct chain_generation *g, const struct chain_names *names,
			   void (*each)(const struct chain_arc *arc, void *data), void *data);
