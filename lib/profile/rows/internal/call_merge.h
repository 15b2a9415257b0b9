/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds chains to a call tree, all of them in linear time. Nodes are added without looking for a
 * child of their parent that is the same; at the end, what is the same is merged. The tree is
 * borrowed, and must not get other nodes below a base before that.
 *
 *	struct call_tree tree;
 *	struct call_merge m = { .tree = &tree };
 *	call_tree_init(&tree, 0);
 *	at = call_merge_add(&m, call_merge_base(&m, call_tree_child(&tree, 0, app)), function);
 *	m.nodes[at].self += 3;
 *	call_merge_end(&m, functions);
 *	node = call_merge_node(&m, at);
 *	call_merge_done(&m);
 */
#pragma once

#include "profile/rows/call_tree.h"

#include <stdint.h>

/* A node that was added, of the last whole chain. */
struct call_merge_step {
	uint32_t what, node;
};

struct call_merge {
	struct call_tree *tree;
	struct call_node *nodes; /* that were added, from 1 on; of a base, ->what is its node */
	size_t count, room;
	uint32_t *bases; /* by node of the tree: what is added below it; 0: nothing */
	size_t base_room;
	struct call_merge_step *way; /* of the last whole chain, from its base on */
	size_t way_count, way_room;
};

/* Returns what stands for the node @base of the tree, below which nodes are added. */
uint32_t call_merge_base(struct call_merge *m, uint32_t base);
/* Adds a node below @parent, which was returned by a call; returns its number. */
uint32_t call_merge_add(struct call_merge *m, uint32_t parent, uint32_t what);
/* Adds a chain of @count nodes below @base, the last one of @whats first; returns the innermost.
 * What it has in common with the last one is not added again. */
uint32_t call_merge_chain(struct call_merge *m, uint32_t base, const uint32_t *whats, size_t count);
/* Adds all nodes to the tree, in which call_tree_child() finds no nodes after that. Each ->what is
 * below @limit. */
void call_merge_end(struct call_merge *m, uint32_t limit);
/* After that: the node of the tree that a node became a part of. */
uint32_t call_merge_node(const struct call_merge *m, uint32_t node);
/* Frees all but the tree. */
void call_merge_done(struct call_merge *m);
