/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/internal/page_tree.h"

#include "base/macro.h"
#include "base/mem.h"
#include "profile/page/internal/page_moments.h"

#include <stdlib.h>

static void forget_order(struct page_tree *t)
{
	free(t->places);
	free(t->items);
	t->places = NULL;
	t->items = NULL;
	t->shown = t->room = t->hidden = 0;
	t->hidden_samples = 0;
}

void page_tree_done(struct page_tree *t)
{
	free(t->totals);
	free(t->shown_by);
	t->totals = NULL;
	t->shown_by = NULL;
	forget_order(t);
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

/* How many nodes have so many samples, or as many as the last one: there are millions of nodes. */
enum { TOTALS = 1 << 16 };

static uint32_t *count_totals(const struct page_tree *t)
{
	uint32_t *counts = xcalloc(TOTALS, sizeof(*counts)), i;

	for (i = 1; i < t->calls->count; i++)
		counts[MIN(t->totals[i], (uint64_t)TOTALS - 1)]++;
	return counts;
}

static void raise_limit(struct page_tree *t, size_t nodes)
{
	_cleanup_free_ uint32_t *counts = count_totals(t);
	size_t shown = count_shown(t);
	uint64_t had;

	while (shown > nodes && t->limit < t->totals[0]) {
		had = t->limit;
		t->limit += t->limit / 4 + 1;
		if (t->limit >= TOTALS)
			shown = count_shown(t);
		else
			while (had < t->limit)
				shown -= counts[had++];
	}
}

static void find_shown(struct page_tree *t)
{
	uint32_t i;

	for (i = 0; i < t->calls->count; i++)
		t->shown_by[i] =
			is_shown(t, i) ? 2 * i : t->shown_by[t->calls->nodes[i].parent] | 1;
}

void page_tree_begin(struct page_tree *t)
{
	t->totals = call_tree_totals(t->calls);
	t->shown_by = xcalloc_whole(t->calls->count, sizeof(*t->shown_by));
	t->limit = 1;
	raise_limit(t, t->limits.nodes);
	find_shown(t);
}

static uint32_t place_now(const struct page_tree *t, uint32_t place)
{
	return t->shown_by[place / 2] | (place & 1);
}

/* Adds up what the limit, which was raised, does not show any more. */
static void add_up(struct page_tree *t, struct page_moments *m)
{
	size_t i;

	find_shown(t);
	for (i = 0; i < m->count; i++)
		m->list[i].place = place_now(t, m->list[i].place);
	page_moments_gather(m, 2 * t->calls->count);
}

/* The limit after @limit if there are @count moments instead of @most: larger in proportion, by a
 * quarter at least, as each time takes a while, and about twice as large at most. */
static uint64_t raised(uint64_t limit, size_t count, size_t most)
{
	const double more = (double)limit * (double)(count - most) / (double)most;
	const uint64_t least = limit / 4 + 1;

	if (more > (double)limit)
		return limit + limit + 1;
	return limit + MAX((uint64_t)more, least);
}

/* Raises the limit until it hides some of the nodes: to add up moments takes much longer. */
static void raise_for(struct page_tree *t, size_t moments)
{
	const size_t shown = count_shown(t);

	do
		t->limit = raised(t->limit, moments, t->limits.moments);
	while (count_shown(t) > shown - shown / 16 && t->limit < t->totals[0]);
}

/* Merges moments, and raises the limit until there are few enough. The limit depends on the order
 * of moments, which is always the same. */
static void join(struct page_tree *t, struct page_moments *m)
{
	const size_t most = t->limits.moments;

	if (m->count > most)
		page_moments_gather(m, 2 * t->calls->count);
	while (m->count > most && t->limit < t->totals[0]) {
		raise_for(t, m->count);
		t->is_crowded = true;
		add_up(t, m);
	}
}

void page_tree_add(struct page_tree *t, struct page_moments *m, struct page_moment moment)
{
	moment.place = place_now(t, moment.place);
	page_moments_add(m, moment);
	if (m->count > 2 * t->limits.moments)
		join(t, m);
}

void page_tree_narrow(struct page_tree *t, struct page_moments *m, size_t nodes)
{
	const uint64_t limit = t->limit;

	raise_limit(t, nodes);
	if (t->limit != limit)
		add_up(t, m);
	join(t, m);
	page_moments_trim(m);
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

/* The item of a place: of a node, or of the rest next to its children, if there is one. */
static uint32_t item_at(const struct page_tree *t, uint32_t place)
{
	uint32_t at = t->places[place / 2];

	return place & 1 && t->items[at].rest ? t->items[at].rest : at;
}

/* Finds the items for what is not shown. */
static void place_hidden(struct page_tree *t)
{
	uint32_t i;

	for (i = 1; i < t->calls->count; i++) {
		if (is_shown(t, i))
			continue;
		t->places[i] = item_at(t, t->shown_by[i]);
		t->hidden++;
		t->hidden_samples += t->calls->nodes[i].self;
	}
}

void page_tree_arrange(struct page_tree *t, struct page_moments *m)
{
	size_t i;

	join(t, m);
	forget_order(t);
	t->places = xcalloc_whole(t->calls->count, sizeof(*t->places));
	put_in_order(t);
	place_hidden(t);
	for (i = 0; i < m->count; i++)
		m->list[i].place = item_at(t, m->list[i].place);
	page_moments_merge(m);
}
