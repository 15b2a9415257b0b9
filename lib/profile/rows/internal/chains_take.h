/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is done with a chain as it is read, however it is kept: whether the specification selects
 * it, which functions its frames are, and why it ends. All in the struct is borrowed, except what
 * chains_take_done() frees.
 *
 *	r = chains_take_want(c, context, image);
 *	if (r == CHAINS_TAKE_YES && chains_take_frames(c, &chain, &line))
 *		chains_take_count(c, &chain, &line);
 */
#pragma once

#include "base/map.h"
#include "profile/rows/chains.h"
#include "profile/rows/internal/call_merge.h"
#include "profile/rows/internal/chain_filter.h"
#include "chains/chain.h"

struct slice;

/* Whether the specification selects the chains of a context whose sample is in some image. */
enum { CHAINS_TAKE_NO = 1, CHAINS_TAKE_YES = 2 };

struct chains_collect {
	struct chains *out;
	struct chains_source *source;
	struct chain_frames *functions;
	struct chain_filter filter;
	struct call_merge merge; /* of the tree */
	struct map bases;	 /* by application and end: their node there */
	/* Nodes of the source, and parts, that were added to the tree, and of these merged. */
	uint32_t nodes, merged_nodes;
	size_t merged_parts;
	struct map lines_by_hash;  /* index + 1 */
	struct map quality_by_key; /* index + 1 */
	size_t last_quality;	   /* index of the one that was looked for last */
	struct map wanted;	   /* by context and image of the source: CHAINS_TAKE_ */
	struct error *err;
	uint32_t *seen; /* by row: the last chain that contained it */
	size_t seen_room;
	uint32_t chain;	     /* number of the current chain */
	size_t slice_moment; /* the first moment of the current slice */
	uint32_t *latest;    /* by line: number of its latest moment, from 1 on; 0: none */
	size_t latest_room;
};

/* Returns whether chains of the context with a sample in the image are selected; or -errno. */
int chains_take_want(struct chains_collect *c, uint32_t context, uint32_t image);
/* A line of chains of the context, without frames and with the end that was recorded. */
struct chains_line chains_take_line(const struct chains_collect *c, uint32_t context,
				    uint64_t samples);
/* Gives the line its frames and its true end; false if the chain is not chosen. */
bool chains_take_frames(struct chains_collect *c, const struct chain *chain,
			struct chains_line *line);
/* Notes that @image has code of the application @app, and whether it is the kernel, which is
 * returned. */
bool chains_take_image(struct chains_collect *c, uint32_t image, uint32_t app);
/* Counts the samples of a chain that is chosen, by its end and its outermost frame. */
void chains_take_count(struct chains_collect *c, const struct chain *chain,
		       const struct chains_line *line);
/* The number of the task of a context. */
uint32_t chains_take_task(const struct chains_collect *c, uint32_t context);
/* Adds when samples were taken; the end of a slice sets the step of its moments. */
void chains_take_moment(struct chains_collect *c, struct chains_moment moment);
/* Whether the times of a slice are wanted. Several threads may ask. */
bool chains_take_slice(const struct chains *c, const struct slice *slice);
/* Adds samples to those of a task, if they are divided by task. */
void chains_take_part(struct chains_collect *c, uint32_t line, uint32_t context, uint64_t samples);
