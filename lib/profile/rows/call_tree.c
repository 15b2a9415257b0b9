/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/call_tree.h"

#include "base/mem.h"

/* Of a node with as many children or more, all are in the map, and those that were not added last
 * are found there. */
enum { CHILDREN_LISTED = 12 };

static uint32_t add_node(struct call_tree *t, uint32_t parent, uint32_t what)
{
	array_grow(&t->nodes, t->count + 1, &t->room);
	t->nodes[t->count] = (struct call_node){ .what = what, .parent = parent };
	return (uint32_t)t->count++;
}

void call_tree_init(struct call_tree *t, uint32_t what)
{
	*t = (struct call_tree){ 0 };
	(void)add_node(t, 0, what);
}

void call_tree_done(struct call_tree *t)
{
	free(t->nodes);
	map_done(&t->many);
	*t = (struct call_tree){ 0 };
}

static uint64_t key_of(uint32_t parent, uint32_t what)
{
	return (uint64_t)parent << 32 | what;
}

static void enter(struct call_tree *t, uint32_t node)
{
	const struct call_node *n = &t->nodes[node];

	(void)map_set(&t->many, key_of(n->parent, n->what), (void *)(uintptr_t)node);
}

static uint32_t find_child(const struct call_tree *t, uint32_t parent, uint32_t what)
{
	uint32_t i, n = 0;

	for (i = t->nodes[parent].child; i && t->nodes[i].what != what; i = t->nodes[i].sibling)
		if (++n == CHILDREN_LISTED)
			return (uint32_t)(uintptr_t)map_get(&t->many, key_of(parent, what));
	return i;
}

static uint32_t add_child(struct call_tree *t, uint32_t parent, uint32_t what)
{
	uint32_t added = add_node(t, parent, what), i, n = 0;

	t->nodes[added].sibling = t->nodes[parent].child;
	t->nodes[parent].child = added;
	for (i = added; i && n <= CHILDREN_LISTED; i = t->nodes[i].sibling)
		n++;
	if (n > CHILDREN_LISTED)
		enter(t, added);
	else if (n == CHILDREN_LISTED)
		for (i = added; i; i = t->nodes[i].sibling)
			enter(t, i);
	return added;
}

uint32_t call_tree_child(struct call_tree *t, uint32_t parent, uint32_t what)
{
	uint32_t known = find_child(t, parent, what);

	return known ? known : add_child(t, parent, what);
}

uint32_t call_tree_next(const struct call_tree *t, uint32_t node)
{
	if (t->nodes[node].child)
		return t->nodes[node].child;
	while (node && !t->nodes[node].sibling)
		node = t->nodes[node].parent;
	return node ? t->nodes[node].sibling : 0;
}

uint64_t *call_tree_totals(const struct call_tree *t)
{
	uint64_t *totals = xcalloc(t->count, sizeof(*totals));
	size_t i;

	for (i = 0; i < t->count; i++)
		totals[i] = t->nodes[i].self;
	for (i = t->count; i-- > 1;)
		totals[t->nodes[i].parent] += totals[i];
	return totals;
}
