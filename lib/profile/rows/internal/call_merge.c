/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/call_merge.h"

#include "base/macro.h"
#include "base/mem.h"

#include <stdlib.h>

/* Until the end, ->sibling is the child that was added last: what is next to each other in a file
 * often is the same function. */
uint32_t call_merge_add(struct call_merge *m, uint32_t parent, uint32_t what)
{
	const uint32_t last = parent ? m->nodes[parent].sibling : 0;

	if (last && m->nodes[last].what == what)
		return last;
	if (m->count + 1 >= m->room)
		array_grow(&m->nodes, m->count + 2, &m->room);
	m->nodes[++m->count] = (struct call_merge_item){ .what = what, .parent = parent };
	if (parent)
		m->nodes[parent].sibling = (uint32_t)m->count;
	return (uint32_t)m->count;
}

/* What was merged is not needed any more. */
static void begin(struct call_merge *m)
{
	m->is_ended = false;
	m->count = m->samples_count = m->base_count = m->way_count = 0;
	map_done(&m->by_base);
}

uint32_t call_merge_base(struct call_merge *m, uint32_t base)
{
	uintptr_t known;

	if (m->is_ended)
		begin(m);
	known = (uintptr_t)map_get(&m->by_base, base);
	if (known)
		return (uint32_t)known;
	known = call_merge_add(m, 0, base);
	(void)map_set(&m->by_base, base, (void *)known);
	array_grow(&m->bases, m->base_count + 1, &m->base_room);
	m->bases[m->base_count++] = (struct call_merge_step){ base, (uint32_t)known };
	return (uint32_t)known;
}

uint32_t call_merge_chain(struct call_merge *m, uint32_t base, const uint32_t *whats, size_t count)
{
	size_t depth = 1, i;

	array_grow(&m->way, count + 1, &m->way_room);
	if (!m->way_count || m->way[0].node != base)
		m->way_count = 1;
	m->way[0].node = base;
	while (depth < m->way_count && depth <= count && m->way[depth].what == whats[count - depth])
		depth++;
	for (i = depth; i <= count; i++)
		m->way[i] = (struct call_merge_step){
			whats[count - i], call_merge_add(m, m->way[i - 1].node, whats[count - i])
		};
	m->way_count = count + 1;
	return m->way[count].node;
}

void call_merge_count(struct call_merge *m, uint32_t node, uint64_t samples)
{
	if (m->samples_count == m->samples_room)
		array_grow(&m->samples, m->samples_count + 1, &m->samples_room);
	m->samples[m->samples_count++] = (struct call_merge_samples){ samples, node };
}

/* --- merging --- */

/* Lists the children of each node in the order in which they were added. */
static void find_children(struct call_merge *m)
{
	size_t i;

	for (i = m->count; i > 0; i--) {
		struct call_merge_item *n = &m->nodes[i], *parent = &m->nodes[n->parent];

		n->sibling = 0;
		if (!n->parent) /* of a base */
			continue;
		n->sibling = parent->child;
		parent->child = (uint32_t)i;
	}
}

/* What becomes a part of one node of the tree: a list by ->parent, which nothing else needs any
 * more. */
struct group {
	uint32_t node;	      /* of the tree */
	uint32_t first, last; /* 0: nothing does */
};

/* The group of a child of the current node, by ->what. */
struct newest {
	uint32_t of, group; /* ->of: what the current node was numbered when it was there */
};

struct merging {
	struct call_merge *m;
	struct call_tree *tree;
	size_t had; /* nodes of the tree that were there before */
	struct newest *newest;
	uint32_t current;     /* number of the current node */
	struct group *groups; /* that are left to take, the next one last */
	size_t count, room;
	uint32_t limit;
};

static void add_group(struct merging *g, uint32_t node, uint32_t what, uint32_t first)
{
	if (g->count == g->room)
		array_grow(&g->groups, g->count + 1, &g->room);
	g->newest[what] = (struct newest){ g->current, (uint32_t)g->count };
	g->groups[g->count++] = (struct group){ node, first, first };
}

/* Makes groups of the children that a node has already. */
static void add_known(struct merging *g, uint32_t node)
{
	const struct call_node *nodes = g->tree->nodes;
	uint32_t i;

	for (i = node < g->had ? nodes[node].child : 0; i; i = nodes[i].sibling)
		if (nodes[i].what < g->limit) /* else it is a base */
			add_group(g, i, nodes[i].what, 0);
}

static uint32_t add_node(struct call_tree *t, uint32_t parent, uint32_t what)
{
	const uint32_t node = (uint32_t)t->count;

	if (t->count == t->room)
		array_grow(&t->nodes, t->count + 1, &t->room);
	t->nodes[t->count++] = (struct call_node){ what, parent, 0, t->nodes[parent].child, 0 };
	t->nodes[parent].child = node;
	return node;
}

/* Adds a node to the group of a child of the current node, @parent. */
static void join(struct merging *g, uint32_t node, uint32_t parent)
{
	struct call_merge_item *n = &g->m->nodes[node];
	const struct newest *newest = &g->newest[n->what];
	struct group *group;

	n->parent = 0;
	if (newest->of != g->current) {
		add_group(g, add_node(g->tree, parent, n->what), n->what, node);
		return;
	}
	group = &g->groups[newest->group];
	if (group->first)
		g->m->nodes[group->last].parent = node;
	else
		group->first = node;
	group->last = node;
}

/* The group that was added first is taken first. */
static void turn_groups(struct merging *g, size_t first)
{
	size_t i, k;

	for (i = first, k = g->count; i + 1 < k; i++) {
		const struct group other = g->groups[--k];

		g->groups[k] = g->groups[i];
		g->groups[i] = other;
	}
}

/* Takes a group: joins the children of its members. */
static void take_group(struct merging *g, const struct group *group)
{
	const size_t first = g->count;
	uint32_t member = group->first;

	if (!member)
		return;
	g->current++;
	add_known(g, group->node);
	while (member) {
		struct call_merge_item *n = &g->m->nodes[member];
		uint32_t child = n->child, next;

		for (; child; child = next) {
			next = g->m->nodes[child].sibling;
			__builtin_prefetch(&g->m->nodes[next]);
			join(g, child, group->node);
		}
		n->child = group->node; /* for call_merge_node() */
		member = n->parent;
	}
	turn_groups(g, first);
}

/* Takes what is below a base, in preorder. */
static void merge_below(struct merging *g, const struct call_merge_step *base)
{
	struct group group = { base->what, base->node, base->node };

	take_group(g, &group);
	while (g->count) {
		group = g->groups[--g->count];
		take_group(g, &group);
	}
}

static int compare_bases(const void *pa, const void *pb)
{
	const struct call_merge_step *a = pa, *b = pb;

	return (a->what > b->what) - (a->what < b->what);
}

void call_merge_end(struct call_merge *m, uint32_t limit)
{
	_cleanup_free_ struct newest *newest = xcalloc((size_t)limit + 1, sizeof(*newest));
	struct merging g = {
		.m = m, .tree = m->tree, .had = m->tree->count, .newest = newest, .limit = limit
	};
	size_t i;

	if (m->is_ended)
		begin(m);
	if (m->count)
		find_children(m);
	if (m->base_count)
		qsort(m->bases, m->base_count, sizeof(*m->bases), compare_bases);
	for (i = 0; i < m->base_count; i++)
		merge_below(&g, &m->bases[i]);
	free(g.groups);
	for (i = 0; i < m->samples_count; i++)
		m->tree->nodes[call_merge_node(m, m->samples[i].node)].self += m->samples[i].count;
	m->is_ended = true;
}

bool call_merge_is_full(const struct call_merge *m)
{
	enum { LEAST = 1 << 20 };

	return m->count >= LEAST && m->count >= m->tree->count;
}

uint32_t call_merge_node(const struct call_merge *m, uint32_t node)
{
	return node ? m->nodes[node].child : 0;
}

void call_merge_done(struct call_merge *m)
{
	free(m->nodes);
	free(m->samples);
	free(m->bases);
	free(m->way);
	map_done(&m->by_base);
	*m = (struct call_merge){ 0 };
}
