/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/call_merge.h"

#include "base/macro.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

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

uint32_t call_merge_base(struct call_merge *m, uint32_t base)
{
	size_t had = m->base_room;

	array_grow(&m->bases, (size_t)base + 1, &m->base_room);
	if (m->base_room > had)
		memset(m->bases + had, 0, (m->base_room - had) * sizeof(*m->bases));
	if (!m->bases[base])
		m->bases[base] = call_merge_add(m, 0, base);
	return m->bases[base];
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

/* What becomes one node is a group, a list by ->parent, which nothing else needs any more. Of a
 * node of the tree whose group was not taken yet, ->child is its first member, ->sibling the last
 * one. */
struct merging {
	struct call_merge *m;
	struct call_tree *tree;
	/* By ->what, the newest node of the tree: it is a child of the current one if it is not
	 * older than the first of these. */
	uint32_t *newest;
};

/* Adds a node to the group of a child of the current node, whose children begin with @first. */
static void join(struct merging *g, uint32_t node, uint32_t parent, uint32_t first)
{
	struct call_merge_item *n = &g->m->nodes[node];
	struct call_node *of_tree;
	struct call_tree *t = g->tree;
	uint32_t *newest = &g->newest[n->what];

	n->parent = 0;
	if (*newest >= first) {
		of_tree = &t->nodes[*newest];
		g->m->nodes[of_tree->sibling].parent = node;
		of_tree->sibling = node;
		return;
	}
	if (t->count == t->room)
		array_grow(&t->nodes, t->count + 1, &t->room);
	*newest = (uint32_t)t->count;
	t->nodes[t->count++] = (struct call_node){ n->what, parent, node, node, 0 };
}

/* Takes the group of a node of the tree that begins with @member: joins its children. Returns the
 * first child. */
static uint32_t take_group(struct merging *g, uint32_t at, uint32_t member)
{
	const uint32_t first = (uint32_t)g->tree->count;

	while (member) {
		struct call_merge_item *n = &g->m->nodes[member];
		uint32_t child = n->child, next;

		for (; child; child = next) {
			next = g->m->nodes[child].sibling;
			join(g, child, at, first);
		}
		n->child = at; /* for call_merge_node() */
		member = n->parent;
	}
	return first;
}

/* Takes what is below a base, whose group begins with @member, in preorder. */
static void merge_below(struct merging *g, uint32_t base, uint32_t member)
{
	struct call_tree *t = g->tree;
	uint32_t before = t->nodes[base].child, first = take_group(g, base, member), at = first;

	if (t->count == first)
		return;
	t->nodes[base].child = (uint32_t)t->count - 1;
	while (at != base) {
		member = t->nodes[at].child;
		t->nodes[at].child = 0;
		t->nodes[at].sibling = before;
		first = take_group(g, at, member);
		before = 0;
		if (t->count > first) {
			t->nodes[at].child = (uint32_t)t->count - 1;
			at = first;
			continue;
		}
		while (at != base && at == t->nodes[t->nodes[at].parent].child)
			at = t->nodes[at].parent;
		if (at != base)
			before = at++;
	}
}

void call_merge_end(struct call_merge *m, uint32_t limit)
{
	_cleanup_free_ uint32_t *newest = xcalloc((size_t)limit + 1, sizeof(*newest));
	struct merging g = { .m = m, .tree = m->tree, .newest = newest };
	size_t i;

	if (m->count)
		find_children(m);
	for (i = 0; i < m->base_room; i++)
		if (m->bases[i])
			merge_below(&g, (uint32_t)i, m->bases[i]);
	for (i = 0; i < m->samples_count; i++)
		m->tree->nodes[call_merge_node(m, m->samples[i].node)].self += m->samples[i].count;
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
	*m = (struct call_merge){ 0 };
}
