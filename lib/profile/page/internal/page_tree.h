/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nodes of a tree of calls that a page shows: those with the most samples, in preorder. The
 * tree is borrowed, and does not change meanwhile.
 *
 *	struct call_tree calls;
 *	struct page_tree t = { .calls = &calls };
 *	page_tree_arrange(&t, &moments, &limits);
 *	for (i = 0; i < t.shown; i++)
 *		printf("%u: %u\n", t.items[i].depth, t.items[i].what);
 *	page_tree_done(&t);
 */
#pragma once

#include "profile/rows/call_tree.h"

#include <stddef.h>
#include <stdint.h>

struct page_moments;

/* The most nodes, and the most moments of them. */
struct page_limits {
	size_t nodes, moments;
};

/* What is shown of the children that have too few samples. */
#define PAGE_TREE_REST UINT32_MAX

struct page_item {
	uint32_t what; /* of the node; or PAGE_TREE_REST */
	uint32_t depth;
	uint32_t rest; /* number of the child that is the rest; 0: there is none */
	uint32_t self; /* at most UINT32_MAX, which is the largest number in a page */
};

struct page_tree {
	const struct call_tree *calls;
	uint64_t *totals;	 /* by node: its samples, and those of all below it */
	uint32_t *places;	 /* by node: number of the item that has its samples */
	struct page_item *items; /* in preorder; of equal parents those with the most samples
				  * first, then the rest */
	size_t shown, room;
	uint64_t limit; /* nodes with fewer samples are added up */
	size_t hidden;	/* such nodes */
	uint64_t hidden_samples;
};

/* Chooses the nodes with the most samples, as many as the limits allow. @moments have the numbers
 * of nodes as their places. The caller calls page_tree_done(). */
void page_tree_arrange(struct page_tree *t, const struct page_moments *moments,
		       const struct page_limits *limits);
/* Frees what was made; the calls are the caller's. */
void page_tree_done(struct page_tree *t);
