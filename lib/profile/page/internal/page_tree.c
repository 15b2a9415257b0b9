/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/internal/page_tree.h"

#include "base/mem.h"
#include "profile/page/internal/page_moments.h"

#include <stdbool.h>
#include <stdlib.h>

static uint32_t add_node(struct page_tree *t, const struct page_node *node)
{
	array_grow(&t->nodes, t->count + 1, &t->room);
	t->nodes[t->count] = *node;
	return (uint32_t)t->count++;
}

void page_tree_init(struct page_tree *t, uint32_t function)
{
	*t = (struct page_tree){ 0 };
	(void)add_node(t, &(struct page_node){ .function = function });
}

void page_tree_done(struct page_tree *t)
{
	free(t->nodes);
	free(t->order);
	map_done(&t->by_key);
	*t = (struct page_tree){ 0 };
}

uint32_t page_tree_child(struct page_tree *t, uint32_t parent, uint32_t function)
{
	uint64_t key = (uint64_t)parent << 32 | function;
	uintptr_t known = (uintptr_t)map_get(&t->by_key, key);

	if (!known) {
		known = add_node(t, &(struct page_node){ .function = function,
							 .parent = parent,
							 .depth = t->nodes[parent].depth + 1 }) +
			1;
		(void)map_set(&t->by_key, key, (void *)known);
	}
	return (uint32_t)(known - 1);
}

static void add_up(struct page_tree *t)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		t->nodes[i].total = t->nodes[i].self;
	for (i = t->count; i-- > 1;)
		t->nodes[t->nodes[i].parent].total += t->nodes[i].total;
}

static size_t count_from(const struct page_tree *t, uint64_t limit)
{
	size_t i, n = 0;

	for (i = 0; i < t->count; i++)
		n += t->nodes[i].total >= limit;
	return n;
}

/* Adds the samples of nodes below the limit to a node of the function @rest next to them. Until the
 * nodes are in order, ->place is the node that shows the samples. */
static void prune(struct page_tree *t, uint32_t rest)
{
	size_t i, had = t->count;

	for (i = 0; i < had; i++) {
		uint32_t at = (uint32_t)i;

		if (t->nodes[i].total < t->limit) {
			at = t->nodes[t->nodes[i].parent].place;
			if (t->nodes[at].function != rest)
				at = page_tree_child(t, at, rest);
			t->nodes[at].self += t->nodes[i].self;
			t->nodes[at].total += t->nodes[i].self;
			t->nodes[at].place = at;
			t->hidden++;
			t->hidden_samples += t->nodes[i].self;
		}
		t->nodes[i].place = at;
	}
}

static int by_parent(const void *a, const void *b, void *data)
{
	const struct page_node *nodes = data;
	const struct page_node *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

/* The first and the last child of each node, in the sorted list. */
struct range {
	uint32_t first, end;
};

/* Puts the nodes of @list, which are sorted by parent, in preorder. */
static void walk(struct page_tree *t, const uint32_t *list, const struct range *children)
{
	_cleanup_free_ uint32_t *stack = xcalloc(t->shown, sizeof(*stack));
	size_t depth = 0, n = 0;
	uint32_t i;

	stack[depth++] = 0;
	while (depth) {
		uint32_t node = stack[--depth];

		t->order[n] = node;
		t->nodes[node].place = (uint32_t)n++;
		for (i = children[node].end; i-- > children[node].first;)
			stack[depth++] = list[i];
	}
}

static void put_in_order(struct page_tree *t)
{
	_cleanup_free_ uint32_t *list = xcalloc(t->count, sizeof(*list));
	_cleanup_free_ struct range *children = xcalloc(t->count, sizeof(*children));
	_cleanup_free_ uint32_t *shown_by = xcalloc(t->count, sizeof(*shown_by));
	uint32_t i, n = 0;

	for (i = 0; i < t->count; i++) {
		shown_by[i] = t->nodes[i].place;
		if (i && shown_by[i] == i)
			list[n++] = i;
	}
	qsort_r(list, n, sizeof(*list), by_parent, t->nodes);
	for (i = 0; i < n; i++) {
		struct range *of = &children[t->nodes[list[i]].parent];

		if (of->end == 0)
			of->first = i;
		of->end = i + 1;
	}
	t->shown = n + 1;
	t->order = xcalloc(t->shown, sizeof(*t->order));
	walk(t, list, children);
	for (i = 0; i < t->count; i++)
		if (shown_by[i] != i)
			t->nodes[i].place = t->nodes[shown_by[i]].place;
}

/* How many moments are left if nodes below the limit are added up. */
static size_t count_moments(const struct page_tree *t, const struct page_moments *moments)
{
	_cleanup_(page_moments_done) struct page_moments left = { 0 };
	_cleanup_free_ uint32_t *shown_by = xcalloc(t->count, sizeof(*shown_by));
	size_t i;

	/* Even numbers are nodes, odd ones what is added up next to their children. */
	for (i = 0; i < t->count; i++)
		shown_by[i] = !i || t->nodes[i].total >= t->limit
				      ? 2 * (uint32_t)i
				      : shown_by[t->nodes[i].parent] | 1;
	for (i = 0; i < moments->count; i++)
		page_moments_add(&left, (struct page_moment){ shown_by[moments->list[i].place],
							      moments->list[i].step,
							      moments->list[i].task, 0 });
	page_moments_merge(&left);
	return left.count;
}

void page_tree_arrange(struct page_tree *t, const struct page_moments *moments,
		       const struct page_limits *limits, uint32_t rest)
{
	add_up(t);
	t->limit = 1;
	while (count_from(t, t->limit) > limits->nodes)
		t->limit += t->limit / 4 + 1;
	if (moments->count > limits->moments)
		while (t->limit < t->nodes[0].total && count_moments(t, moments) > limits->moments)
			t->limit *= 2;
	prune(t, rest);
	put_in_order(t);
}
