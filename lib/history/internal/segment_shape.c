/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/segment_shape.h"

#include "base/mem.h"

#include <stdlib.h>

/* How many bytes are left. */
static size_t left(const struct slice_numbers *n)
{
	return (size_t)(n->end - n->at);
}

/* Moves past @count numbers: each ends with a byte below 128. */
static void skip(struct slice_numbers *n, size_t count)
{
	while (count && n->at < n->end)
		count -= *n->at++ < 128;
	n->damaged |= count > 0;
}

bool segment_shape_read_places(struct segment_shape *s, struct slice_numbers block)
{
	struct slice_numbers lines = block, keys = block;
	uint64_t line = 0, key = 0;
	uint32_t i;

	if (left(&block) / 2 < s->places)
		return false;
	s->at = xcalloc((size_t)s->places + 1, sizeof(*s->at));
	skip(&keys, s->places);
	for (i = 1; i <= s->places; i++) {
		uint64_t distance = slice_get(&lines), next = slice_get(&keys);

		line += distance;
		if (distance > s->lines || line > s->lines || lines.damaged || keys.damaged)
			return false;
		key = distance ? next : key + next;
		s->at[i] = (struct segment_node){ .key = key, .line = (uint32_t)line };
	}
	return true;
}

/* Makes the nodes from two columns: how many levels each one goes up, and its place. @last has the
 * last node of each depth. */
static bool make_nodes(struct segment_shape *s, struct slice_numbers levels, uint32_t *last)
{
	struct slice_numbers at = levels;
	uint64_t depth = 0, place = 0;
	uint32_t i;

	skip(&at, s->nodes);
	for (i = 1; i <= s->nodes; i++) {
		uint64_t up = slice_get(&levels), zigzag = slice_get(&at);

		place += zigzag >> 1 ^ -(zigzag & 1);
		if (up > depth || place >= s->places || levels.damaged || at.damaged)
			return false;
		depth += 1 - up;
		s->place_of[i] = (uint32_t)place + 1;
		s->parents[i] = last[depth - 1];
		last[depth] = i;
	}
	return true;
}

bool segment_shape_read(struct segment_shape *s, struct slice_numbers block)
{
	_cleanup_free_ uint32_t *last = NULL;

	if (left(&block) / 2 < s->nodes)
		return false;
	last = xcalloc((size_t)s->nodes + 2, sizeof(*last));
	s->parents = xmalloc(((size_t)s->nodes + 1) * sizeof(*s->parents));
	s->place_of = xmalloc(((size_t)s->nodes + 1) * sizeof(*s->place_of));
	s->parents[0] = s->place_of[0] = 0;
	return make_nodes(s, block, last);
}

void segment_shape_done(struct segment_shape *s)
{
	free(STEAL(s->at));
	free(STEAL(s->parents));
	free(STEAL(s->place_of));
}
