/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/internal/page_tree.h"

#include "base/mem.h"
#include "profile/page/internal/page_moments.h"

#include <stdlib.h>

void page_tree_done(struct page_tree *t)
{
	free(t->totals);
	free(t->places);
	free(t->items);
	t->totals = NULL;
	t->places = NULL;
	t->items = NULL;
}

/* --- what is shown --- */

static bool is_shown(const struct page_tree *t, uint32_t node)
{
	return node == 0 || t->totals[node] >= t->limit;
}

static size_t count_shown(const struct page_tree *t)
{
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < t->calls->count; i++)
		n += is_shown(t, i);
	return n;
}

/* Adds up the moments of nodes below the limit. Places are twice the numbers of nodes; odd ones, of
 * what is added up next to the children of a node. */
static void join_hidden(const struct page_tree *t, struct page_moments *moments)
{
	_cleanup_free_ uint32_t *shown_by = xcalloc(t->calls->count, sizeof(*shown_by));
	uint32_t node;
	size_t i;

	for (node = 0; node < t->calls->count; node++)
		shown_by[node] =
			is_shown(t, node) ? 2 * node : shown_by[t->calls->nodes[node].parent] | 1;
	for (i = 0; i < moments->count; i++) {
		uint32_t place = moments->list[i].place;

		moments->list[i].place = shown_by[place / 2] | (place & 1);
	}
	page_moments_merge(moments);
}

/* Raises the limit until there are so few moments; each time, what is left is added up. */
static void limit_moments(struct page_tree *t, const struct page_moments *moments, size_t most)
{
	_cleanup_(page_moments_done) struct page_moments left = { 0 };
	size_t i;

	left.list = xcalloc(moments->count, sizeof(*left.list));
	left.count = left.room = moments->count;
	for (i = 0; i < moments->count; i++) {
		left.list[i] = moments->list[i];
		left.list[i].place *= 2;
	}
	for (join_hidden(t, &left); left.count > most && t->limit < t->totals[0];
	     join_hidden(t, &left))
		t->limit *= 2;
}

static void set_limit(struct page_tree *t, const struct page_moments *moments,
		      const struct page_limits *limits)
{
	t->limit = 1;
	while (count_shown(t) > limits->nodes)
		t->limit += t->limit / 4 + 1;
	if (moments->count > limits->moments)
		limit_moments(t, moments, limits->moments);
}

/* --- in order --- */

/* Nodes that are still to be shown, the next one last. */
struct waiting {
	struct {
		uint32_t node; /* or, of the rest, its parent */
		uint32_t depth;
		uint64_t rest; /* samples of the rest; 0: it is a node */
	} * list;
	size_t count, room;
};

static void wait_for(struct waiting *w, uint32_t node, uint32_t depth, uint64_t rest)
{
	if (w->count == w->room)
		array_grow(&w->list, w->count + 1, &w->room);
	w->list[w->count].node = node;
	w->list[w->count].depth = depth;
	w->list[w->count++].rest = rest;
}

/* A child, with what decides on its place. */
struct child {
	uint64_t total;
	uint32_t what, node;
};

/* The heaviest last: it is the next one to be taken. */
static int by_weight(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? -1 : 1;
	return (x->what < y->what) - (x->what > y->what);
}

struct children {
	struct child *list;
	size_t count, room;
};

/* Most nodes have few children. */
static void sort_children(struct children *c)
{
	enum { FEW = 12 };
	size_t i, k;

	if (c->count > FEW) {
		qsort(c->list, c->count, sizeof(*c->list), by_weight);
		return;
	}
	for (i = 1; i < c->count; i++) {
		struct child moved = c->list[i];

		for (k = i; k && by_weight(&c->list[k - 1], &moved) > 0; k--)
			c->list[k] = c->list[k - 1];
		c->list[k] = moved;
	}
}

static void add_children(const struct page_tree *t, uint32_t node, uint32_t depth,
			 struct children *children, struct waiting *w)
{
	uint64_t rest = 0;
	uint32_t i;
	size_t k;

	children->count = 0;
	for (i = t->calls->nodes[node].child; i; i = t->calls->nodes[i].sibling) {
		if (!is_shown(t, i)) {
			rest += t->totals[i];
			continue;
		}
		if (children->count == children->room)
			array_grow(&children->list, children->count + 1, &children->room);
		children->list[children->count++] =
			(struct child){ t->totals[i], t->calls->nodes[i].what, i };
	}
	if (rest)
		wait_for(w, node, depth + 1, rest);
	sort_children(children);
	for (k = 0; k < children->count; k++)
		wait_for(w, children->list[k].node, depth + 1, 0);
}

static void add_item(struct page_tree *t, uint32_t what, uint32_t depth, uint64_t self)
{
	if (t->shown == t->room)
		array_grow(&t->items, t->shown + 1, &t->room);
	t->items[t->shown++] =
		(struct page_item){ what, depth, 0, (uint32_t)MIN(self, (uint64_t)UINT32_MAX) };
}

static void put_in_order(struct page_tree *t)
{
	struct children children = { 0 };
	struct waiting w = { 0 };

	array_grow(&t->items, count_shown(t), &t->room);
	wait_for(&w, 0, 0, 0);
	while (w.count) {
		uint32_t node = w.list[--w.count].node, depth = w.list[w.count].depth;
		uint64_t rest = w.list[w.count].rest;
		const struct call_node *n = &t->calls->nodes[node];

		if (rest) {
			t->items[t->places[node]].rest = (uint32_t)t->shown;
			add_item(t, PAGE_TREE_REST, depth, rest);
			continue;
		}
		t->places[node] = (uint32_t)t->shown;
		add_item(t, n->what, depth, n->self);
		add_children(t, node, depth, &children, &w);
	}
	free(children.list);
	free(w.list);
}

/* Finds the items for what is not shown: the rest next to the outermost node that is not. */
static void place_hidden(struct page_tree *t)
{
	uint32_t i;

	for (i = 1; i < t->calls->count; i++) {
		uint32_t parent = t->calls->nodes[i].parent, at = t->places[parent];

		if (is_shown(t, i))
			continue;
		t->places[i] = is_shown(t, parent) && t->items[at].rest ? t->items[at].rest : at;
		t->hidden++;
		t->hidden_samples += t->calls->nodes[i].self;
	}
}

void page_tree_arrange(struct page_tree *t, const struct page_moments *moments,
		       const struct page_limits *limits)
{
	t->totals = call_tree_totals(t->calls);
	t->places = xcalloc(t->calls->count, sizeof(*t->places));
	set_limit(t, moments, limits);
	put_in_order(t);
	place_hidden(t);
}
