/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trees of a reader (chain_read.h) as one. Days and weeks have most of their nodes in common,
 * so what is done for each node of the union is done much more rarely. Trees that are large, of
 * which not many fit into memory, come one after the other. The struct owns its memory.
 *
 *	struct chain_union u = { .reader = r };
 *	while (chain_union_next(&u))
 *		for (i = 0; i < u.sampled_count; i++)
 *			sum += u.counts[u.sampled[i]];
 *	chain_union_done(&u);
 */
#pragma once

#include "chains/chain.h"
#include "history/segment_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chain_joint;
struct chain_reader;

struct chain_union {
	struct chain_reader *reader; /* set by the caller; borrowed */
	/* Set by the caller: by node of the reader, gets its number in the union that it is in.
	 * NULL: they are not wanted. */
	uint32_t *numbers;
	uint32_t begin,
		end; /* the nodes of the reader that are in it: from the first to the last */
	/* The nodes, from 1 on. Parents come before their children. A tree that is alone is
	 * borrowed from the reader. */
	uint32_t count;
	const uint32_t *parents; /* by node; 0: it is a root */
	const uint64_t *counts;	 /* by node: the samples of the chain that ends there */
	/* By node: what has the same place has the same frame. Of a root, it is not its context. */
	const uint32_t *place_of;
	/* From 1 on; most of them by line, then key. The line is the image, the key the offset; a
	 * place without a line is invalid. */
	const struct segment_node *places;
	uint32_t place_count;
	/* Frames that have samples, in the order in which they had some first. */
	uint32_t *sampled;
	size_t sampled_count, sampled_room;
	size_t next;			 /* the tree that is read next */
	bool is_alone;			 /* a tree is borrowed: the one before ->next */
	struct segment_node *own_places; /* of that */
	struct chain_joint *joint;	 /* of several trees; else NULL */
};

/* Frees the last union, and makes the next one; false if there is no tree left. */
bool chain_union_next(struct chain_union *u);
void chain_union_done(struct chain_union *u);
/* The number of the context of a root; 0: it is invalid. */
uint32_t chain_union_context(const struct chain_union *u, uint32_t root);
/* The frame of a place. *@ret_is_function: it is a whole function, as in struct chain. */
struct chain_frame chain_union_frame(const struct chain_union *u, uint32_t place,
				     bool *ret_is_function);
/* Gets the chain of a node; its frames are valid until the next call. False if it is too long. */
bool chain_union_chain(struct chain_union *u, uint32_t node, struct chain *ret);
