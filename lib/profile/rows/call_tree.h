/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tree of calls: a node has a number that says what it is, such as a function, and the samples
 * that were taken in it. That number distinguishes the children of a node. Node 0 is the root.
 * The tree owns its memory.
 *
 *	struct call_tree t;
 *	call_tree_init(&t, 0);
 *	node = call_tree_child(&t, 0, function);
 *	t.nodes[node].self += 3;
 *	call_tree_done(&t);
 */
#pragma once

#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

struct call_node {
	uint32_t what, parent;
	uint32_t child, sibling; /* the child that was added last, the one before this; 0: none */
	uint64_t self;
};

struct call_tree {
	struct call_node *nodes; /* parents before their children */
	size_t count, room;
	struct map many; /* of nodes with many children: by parent and number, the child */
};

/* Makes a tree with only its root; the caller calls call_tree_done(). */
void call_tree_init(struct call_tree *t, uint32_t what);
/* Frees the nodes; a zeroed tree is fine. */
void call_tree_done(struct call_tree *t);
/* Returns the child of @parent for @what; adds it if there is none. */
uint32_t call_tree_child(struct call_tree *t, uint32_t parent, uint32_t what);
/* Returns the node after @node in preorder, 0 after the last one. */
uint32_t call_tree_next(const struct call_tree *t, uint32_t node);
/* Returns the samples of each node and of all below it; caller frees. */
uint64_t *call_tree_totals(const struct call_tree *t);
