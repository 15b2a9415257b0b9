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

/* Adds the counts of a slice to those of @nodes nodes; the samples of others are unknown. */
static void add_slice(struct chain_past *p, uint32_t nodes, struct chain_past_entries *e)
{
	uint64_t node, count, sum;

	while (chain_past_next(e, &node, &count)) {
		if (node >= nodes) {
			add_up(&p->unknown, count);
			continue;
		}
		sum = p->counts[node];
		add_up(&sum, count);
		p->counts[node] = (uint32_t)MIN(sum, (uint64_t)UINT32_MAX);
		add_up(&p->unknown, sum - p->counts[node]);
	}
}

/* A node has at least what its slices have. */
static void limit(struct chain_past *p, const struct chain_table *nodes)
{
	uint32_t i;

	for (i = 1; i < nodes->count; i++) {
		const struct chain_node *node = chain_table_at(nodes, i);

		if (p->counts[i] <= node->count)
			continue;
		add_up(&p->unknown, p->counts[i] - node->count);
		p->counts[i] = node->count;
	}
}

void chain_past_read(struct slices *slices, const struct window *window,
		     const struct chain_table *nodes, struct chain_past *ret)
{
	struct chain_past p = { .counts = xcalloc(nodes->count, sizeof(*p.counts)) };
	struct chain_past_entries entries;
	struct slice slice;

	while (slices_next(slices, &slice)) {
		const void *content;
		size_t size = 0;

		if (!window_overlaps(&slice.span, window))
			continue;
		p.slices++;
		content = slices_content(slices, &size);
		if (content && chain_past_begin(content, size, &entries))
			add_slice(&p, nodes->count, &entries);
		else
			p.damaged += size;
	}
	p.damaged += slices_damaged(slices);
	if (nodes->map)
		limit(&p, nodes);
	*ret = p;
}

void chain_past_done(struct chain_past *p)
{
	free(p->counts);
	*p = (struct chain_past){ 0 };
}
