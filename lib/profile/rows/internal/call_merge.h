/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds chains to a call tree, all of them in linear time. Nodes are added without looking for a
 * child of their parent that is the same; at the end, what is the same is merged. That can be
 * done several times, so that what was added and not merged does not grow large. The tree is
 * borrowed, and must not get other nodes below a base that are what is added there.
 *
 *	struct call_tree tree;
 *	struct call_merge m = { .tree = &tree };
 *	call_tree_init(&tree, 0);
 *	at = call_merge_add(&m, call_merge_base(&m, call_tree_child(&tree, 0, app)), function);
 *	call_merge_count(&m, at, 3);
 *	call_merge_end(&m, functions);
 *	node = call_merge_node(&m, at);
 *	call_merge_done(&m);
 */
#pragma once

#include "base/map.h"
#include "profile/rows/call_tree.h"

#include <stdbool.h>
#include <stdint.h>

/* A node that was added: of the last whole chain, or a base. */
struct call_merge_step {
	uint32_t what, node;
};

/* A node that was added. There can be more of these than of anything else. */
struct call_merge_item {
	uint32_t what, parent;	 /* of a base, its node in the tree and 0 */
	uint32_t child, sibling; /* as in the .c */
};

/* Samples that were taken in a node; most have none. */
struct call_merge_samples {
	uint64_t count;
	uint32_t node;
};

struct call_merge {
	struct call_tree *tree;
	struct call_merge_item *nodes; /* from 1 on */
	size_t count, room;
	struct call_merge_samples *samples;
	size_t samples_count, samples_room;
	struct call_merge_step *bases; /* what is added below nodes of the tree */
	size_t base_count, base_room;
	struct map by_base;	     /* the same: the node that was added */
	struct call_merge_step *way; /* of the last whole chain, from its base on */
	size_t way_count, way_room;
	bool is_ended; /* all that was added was merged */
};

/* Returns what stands for the node @base of the tree, below which nodes are added. */
uint32_t call_merge_base(struct call_merge *m, uint32_t base);
/* Adds a node below @parent, which was returned by a call; returns its number. */
uint32_t call_merge_add(struct call_merge *m, uint32_t parent, uint32_t what);
/* Adds a chain of @count nodes below @base, the last one of @whats first; returns the innermost.
 * What it has in common with the last one is not added again. */
uint32_t call_merge_chain(struct call_merge *m, uint32_t base, const uint32_t *whats, size_t count);
/* Adds samples to those of a node that was returned by a call. */
void call_merge_count(struct call_merge *m, uint32_t node, uint64_t samples);
/* Whether so much was added that it should be merged now. */
bool call_merge_is_full(const struct call_merge *m);
/* Merges what was added into the tree, in which call_tree_child() finds none of these nodes after
 * that. Each ->what is below @limit. More can be added, from its base on. */
void call_merge_end(struct call_merge *m, uint32_t limit);
/* After that, until more is added: the node of the tree that a node became a part of. */
uint32_t call_merge_node(const struct call_merge *m, uint32_t node);
/* Frees all but the tree. */
void call_merge_done(struct call_merge *m);
