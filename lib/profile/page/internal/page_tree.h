/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nodes of a tree of calls that a page shows: those with the most samples, in preorder, and
 * when their samples were taken. The tree is borrowed, and does not change meanwhile. A month can
 * have tens of millions of moments, so those of what is too small to be shown are added up as they
 * are added.
 *
 *	struct call_tree calls;
 *	struct page_tree t = { .calls = &calls, .limits = { 1000, 5000 } };
 *	page_tree_begin(&t);
 *	page_tree_add(&t, &moments, (struct page_moment){ t.shown_by[node], step, task, 1 });
 *	page_tree_arrange(&t, &moments);
 *	for (i = 0; i < t.shown; i++)
 *		printf("%u: %u\n", t.items[i].depth, t.items[i].what);
 *	page_tree_done(&t);
 */
#pragma once

#include "profile/rows/call_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_moment;
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
	struct page_limits limits; /* set by the caller */
	uint64_t *totals;	   /* by node: its samples, and those of all below it */
	/* By node: twice the number of the one that shows its samples; odd if it is not that one,
	 * but what is added up next to its children. */
	uint32_t *shown_by;
	uint32_t *places;	 /* by node: number of the item that has its samples */
	struct page_item *items; /* in preorder; of equal parents those with the most samples
				  * first, then the rest */
	size_t shown, room;
	uint64_t limit;	 /* nodes with fewer samples are added up */
	bool is_crowded; /* it was raised because there were too many moments */
	size_t hidden;	 /* such nodes */
	uint64_t hidden_samples;
};

/* Chooses the nodes with the most samples, as many as the limit of nodes allows. The caller calls
 * page_tree_done(). */
void page_tree_begin(struct page_tree *t);
/* Adds to @m, which has no others, a moment whose place is one of ->shown_by, or was before the
 * last call. If there are too many, fewer nodes are shown. */
void page_tree_add(struct page_tree *t, struct page_moments *m, struct page_moment moment);
/* Shows at most @nodes, if more were chosen, and fewer if there are too many moments @m, which are
 * all; adds up those of the others. */
void page_tree_narrow(struct page_tree *t, struct page_moments *m, size_t nodes);
/* Puts the nodes in order, after all moments were added: sets the places of @m to numbers of items,
 * and merges them. May be called again with other moments, whose places are as page_tree_add() left
 * them. */
void page_tree_arrange(struct page_tree *t, struct page_moments *m);
/* Frees what was made; the calls are the caller's. */
void page_tree_done(struct page_tree *t);
