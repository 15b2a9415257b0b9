/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tree of functions: a node for each function below each chain of callers, with the samples that
 * were taken in it. Node 0 is the root. The tree owns its nodes.
 *
 *	struct page_tree t;
 *	page_tree_init(&t, PAGE_ALL);
 *	node = page_tree_child(&t, 0, function);
 *	t.nodes[node].self += samples;
 *	page_tree_arrange(&t, &moments, &limits, rest);
 *	for (i = 0; i < t.count; i++)
 *		printf("%u: %u\n", t.nodes[t.order[i]].depth, t.nodes[t.order[i]].function);
 *	page_tree_done(&t);
 */
#pragma once

#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

struct page_moments;

/* The most nodes, and the most moments of them. */
struct page_limits {
	size_t nodes, moments;
};

struct page_node {
	uint32_t function, parent, depth;
	uint64_t self, total;
	uint32_t place; /* after page_tree_arrange(): number in ->order of what shows its samples */
};

struct page_tree {
	struct page_node *nodes; /* parents before their children */
	size_t count, room;
	struct map by_key; /* of parent and function: index + 1 */
	/* After page_tree_arrange(): */
	uint32_t *order; /* nodes in preorder, of equal parents those with the most samples first */
	size_t shown;	 /* length of ->order */
	uint64_t limit;	 /* nodes with fewer samples are added up */
	size_t hidden;	 /* such nodes */
	uint64_t hidden_samples;
};

/* A tree with only its root; the caller calls page_tree_done(). */
void page_tree_init(struct page_tree *t, uint32_t function);
void page_tree_done(struct page_tree *t);
/* The child of @parent for the function; added if there is none. */
uint32_t page_tree_child(struct page_tree *t, uint32_t parent, uint32_t function);
/* Adds up the totals and puts nodes in order, those with the most samples: as many as the limits
 * allow. The samples of the others are added to children of the function @rest. @moments have the
 * numbers of nodes as their places. */
void page_tree_arrange(struct page_tree *t, const struct page_moments *moments,
		       const struct page_limits *limits, uint32_t rest);
