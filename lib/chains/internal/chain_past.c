/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/internal/chain_past.h"

#include "base/macro.h"
#include "base/mem.h"
#include "chains/chain_table.h"
#include "chains/internal/chain_slicer.h"

#include <stdlib.h>

int chain_past_open(const char *dir, uint32_t pair, struct slices **ret, struct error *err)
{
	_cleanup_free_ char *path = chain_slices_path(dir, pair);

	return slices_read(path, ret, err);
}

bool chain_past_begin(const void *content, size_t size, struct chain_past_entries *ret)
{
	const uint8_t *bytes = content;
	struct chain_past_entries e = { .nodes = { bytes, bytes + size, false } };
	size_t count = 0;

	for (e.counts = e.nodes; slice_get(&e.counts);)
		count++;
	if (e.counts.damaged || count > (size_t)(e.counts.end - e.counts.at))
		return false;
	*ret = e;
	return true;
}

bool chain_past_next(struct chain_past_entries *e, uint64_t *ret_node, uint64_t *ret_count)
{
	uint64_t distance = slice_get(&e->nodes);

	if (!distance || __builtin_add_overflow(e->node, distance, &e->node))
		return false;
	*ret_node = e->node;
	*ret_count = slice_get(&e->counts);
	return !e->counts.damaged;
}

static void add_up(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

/* A tree of which at most this part has samples in the window is not scanned, but the nodes that
 * have some are listed. */
enum { FEW = 16 };

/* The counts being read. */
struct past_reading {
	struct chain_past past;
	uint32_t nodes; /* in the tree */
	size_t room;
	bool are_many; /* ->past.nodes is not continued */
};

/* Lists a node that had no samples yet. */
static void list_node(struct past_reading *r, uint32_t node)
{
	struct chain_past *p = &r->past;

	r->are_many |= p->node_count >= r->nodes / FEW;
	if (r->are_many)
		return;
	array_grow(&p->nodes, p->node_count + 1, &r->room);
	p->nodes[p->node_count++] = node;
}

/* Adds the counts of a slice to those of nodes; the samples of others are unknown. */
static void add_slice(struct past_reading *r, struct chain_past_entries *e)
{
	struct chain_past *p = &r->past;
	uint64_t node, count, sum;

	while (chain_past_next(e, &node, &count)) {
		if (node >= r->nodes) {
			add_up(&p->unknown, count);
			continue;
		}
		sum = p->counts[node];
		if (!sum && count)
			list_node(r, (uint32_t)node);
		add_up(&sum, count);
		p->counts[node] = (uint32_t)MIN(sum, (uint64_t)UINT32_MAX);
		add_up(&p->unknown, sum - p->counts[node]);
	}
}

static int compare_nodes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void end_list(struct past_reading *r)
{
	struct chain_past *p = &r->past;

	if (!r->are_many && p->node_count) {
		qsort(p->nodes, p->node_count, sizeof(*p->nodes), compare_nodes);
		return;
	}
	free(p->nodes);
	p->nodes = NULL;
	p->node_count = 0;
}

/* A node has at least what its slices have. */
static void limit_node(struct chain_past *p, const struct chain_table *nodes, uint32_t i)
{
	const struct chain_node *node = chain_table_at(nodes, i);

	if (p->counts[i] <= node->count)
		return;
	add_up(&p->unknown, p->counts[i] - node->count);
	p->counts[i] = node->count;
}

static void limit(struct chain_past *p, const struct chain_table *nodes)
{
	uint32_t i;

	for (i = 0; i < p->node_count; i++)
		limit_node(p, nodes, p->nodes[i]);
	for (i = 1; !p->nodes && i < nodes->count; i++)
		limit_node(p, nodes, i);
}

void chain_past_read(struct slices *slices, const struct window *window,
		     const struct chain_table *nodes, struct chain_past *ret)
{
	struct past_reading r = { .past.counts = xcalloc(nodes->count, sizeof(uint32_t)),
				  .nodes = nodes->count };
	struct chain_past *p = &r.past;
	struct chain_past_entries entries;
	struct slice slice;

	while (slices_next(slices, &slice)) {
		const void *content;
		size_t size = 0;

		if (!window_overlaps(&slice.span, window))
			continue;
		p->slices++;
		content = slices_content(slices, &size);
		if (content && chain_past_begin(content, size, &entries))
			add_slice(&r, &entries);
		else
			p->damaged += size;
	}
	p->damaged += slices_damaged(slices);
	end_list(&r);
	if (nodes->map)
		limit(p, nodes);
	*ret = *p;
}

void chain_past_done(struct chain_past *p)
{
	free(p->counts);
	free(p->nodes);
	*p = (struct chain_past){ 0 };
}
