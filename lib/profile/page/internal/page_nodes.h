/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of a page that say what its nodes are, and when their samples were taken (man
 * opreport-output.5, "PAGE DATA").
 *
 *	page_nodes_depths(&columns, &tree);
 *	page_nodes_untimed(&columns, &tree, &moments);
 *	page_nodes_moments(&columns, &moments, false);
 */
#pragma once

#include <stdbool.h>

struct page_columns;
struct page_moments;
struct page_tree;

/* Adds the depth of each node, in preorder. */
void page_nodes_depths(struct page_columns *c, const struct page_tree *t);
/* Adds the samples in each node itself that no moment has, and leaves only those in the tree. */
void page_nodes_untimed(struct page_columns *c, struct page_tree *t, const struct page_moments *m);
/* Adds of each moment: how many nodes after the one before, which compresses better than its node;
 * step, samples and, if they are divided by task, task. */
void page_nodes_moments(struct page_columns *c, const struct page_moments *m, bool by_task);
