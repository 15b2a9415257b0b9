/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/chains_plant.h"

#include "base/mem.h"
#include "profile/rows/internal/chains_take.h"

#include <stdlib.h>

void chains_plant_merge(struct chains_collect *collect)
{
	struct chains *c = collect->out;
	struct call_merge *m = &collect->merge;
	const struct chains_source *s = collect->source;
	uint32_t i;

	call_merge_end(m, (uint32_t)c->rows.count);
	for (; collect->merged_parts < c->part_count; collect->merged_parts++) {
		struct chains_moment *part = &c->parts[collect->merged_parts];

		part->line = call_merge_node(m, part->line);
	}
	for (i = collect->merged_nodes; s->leaf && i < collect->nodes; i++)
		s->leaf[i] = call_merge_node(m, s->leaf[i]);
	collect->merged_nodes = collect->nodes;
}

static bool is_row(const struct call_node *node)
{
	return !(node->what & (CHAINS_NODE_APP | CHAINS_NODE_END));
}

/* The group that the row of a node is in. */
static uint32_t group_of(const struct call_node *node, const uint32_t *groups)
{
	return groups ? groups[node->what] : node->what;
}

uint64_t *chains_tree_totals(const struct chains *c, const uint32_t *groups)
{
	const struct call_tree *t = &c->tree;
	_cleanup_free_ uint64_t *totals = call_tree_totals(t);
	_cleanup_free_ uint32_t *open = xcalloc(c->rows.count + 1, sizeof(*open));
	uint64_t *sums = xcalloc(c->rows.count + 1, sizeof(*sums));
	uint32_t at = 0, i;

	/* In preorder; ->open has how often each group is among the callers of the next node. */
	for (i = call_tree_next(t, 0); i; i = call_tree_next(t, i)) {
		const struct call_node *n = &t->nodes[i];

		for (; at != n->parent; at = t->nodes[at].parent)
			if (is_row(&t->nodes[at]))
				open[group_of(&t->nodes[at], groups)]--;
		at = i;
		if (is_row(n) && !open[group_of(n, groups)]++)
			sums[group_of(n, groups)] += totals[i];
	}
	return sums;
}

static void set_totals(struct chains *c)
{
	_cleanup_free_ uint64_t *totals = chains_tree_totals(c, NULL);
	size_t i;

	for (i = 0; i < c->rows.count; i++)
		c->rows.rows[i].counts[CHAINS_INCLUSIVE] = totals[i];
}

void chains_plant_end(struct chains_collect *collect)
{
	struct chains *c = collect->out;
	const struct call_tree *t = &c->tree;
	_cleanup_free_ uint64_t *own = xcalloc(c->rows.count + 1, sizeof(*own));
	size_t i;

	for (i = 1; i < t->count; i++)
		if (is_row(&t->nodes[i]))
			own[t->nodes[i].what] += t->nodes[i].self;
	for (i = 0; i < c->rows.count; i++)
		c->rows.rows[i].counts[CHAINS_SELF] = own[i];
	if (!c->own_only)
		set_totals(c);
}
