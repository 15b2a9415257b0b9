/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/segment_made.h"

#include "base/mem.h"

#include <stdlib.h>

void segment_made_count(struct segment_made *m, uint32_t node, uint64_t count)
{
	array_grow(&m->nodes, m->count + 1, &m->node_room);
	array_grow(&m->counts, m->count + 1, &m->count_room);
	m->nodes[m->count] = node;
	m->counts[m->count++] = count;
}

/* Where the counts of slice @i begin. */
static size_t begin_of(const struct segment_made *m, size_t i)
{
	return i ? m->ends[i - 1] : 0;
}

void segment_made_slice(struct segment_made *m, const struct segment_slice *slice)
{
	array_grow(&m->slices, m->slice_count + 1, &m->slice_room);
	array_grow(&m->ends, m->slice_count + 1, &m->ends_room);
	m->slices[m->slice_count] = *slice;
	m->slices[m->slice_count].counts = m->count - begin_of(m, m->slice_count);
	m->ends[m->slice_count++] = m->count;
}

struct segment_counts segment_made_counts(const struct segment_made *m, size_t i)
{
	size_t begin = begin_of(m, i);

	if (m->ends[i] == begin)
		return (struct segment_counts){ 0 };
	return (struct segment_counts){ m->nodes + begin, m->counts + begin, m->ends[i] - begin };
}

void segment_made_done(struct segment_made *m)
{
	segment_tree_done(&m->tree);
	free(m->slices);
	free(m->nodes);
	free(m->counts);
	free(m->ends);
	*m = (struct segment_made){ 0 };
}
