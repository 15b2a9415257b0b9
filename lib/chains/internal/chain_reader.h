/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader of chain_read.h, for the files that implement it. Frames that were collected are its
 * own.
 *
 *	n = chain_reader_collect(r, &r->generations[0], node, &context);
 */
#pragma once

#include "chains/internal/chain_generation.h"
#include "chains/internal/chain_lost.h"

struct chain_reader {
	char *dir;
	struct chain_names *names;
	struct chain_generation *generations;
	size_t count, room;
	bool has_sources; /* in any window */
	size_t damaged;	  /* bytes of segments that cannot be read */
	size_t timeless;  /* pairs whose slices are missing */
	struct chain_lost lost;
	uint32_t last_pair;
	/* The generation that a node was read of last, its nodes, and those of the ones before. */
	size_t last;
	uint32_t last_nodes, first;
	struct chain_frame frames[CHAIN_FRAMES_MAX];
};

/* How many nodes the generations before a generation have, without node 0 of each. */
uint32_t chain_reader_nodes_before(const struct chain_reader *r, const struct chain_generation *g);
/* Collects the frames of node @i of a generation in r->frames. Returns their number, or 0 if the
 * node is invalid. */
size_t chain_reader_collect(struct chain_reader *r, const struct chain_generation *g, uint32_t i,
			    uint32_t *ret_context);
