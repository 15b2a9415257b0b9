/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/segment_columns.h"

#include "base/mem.h"
#include "history/slice_file.h"

#include <stdlib.h>

enum { RANKS = 256, OFTEN = 4 };

unsigned int segment_columns_least(size_t slices)
{
	return segment_columns_rank(slices / OFTEN + 1);
}

void segment_columns_init(struct segment_columns *c, const uint64_t *totals, size_t nodes,
			  unsigned int least)
{
	size_t ends[RANKS] = { 0 }, i, rank;

	*c = (struct segment_columns){ 0 };
	if (!least)
		return;
	for (i = 1; i <= nodes; i++)
		ends[segment_columns_rank(totals[i])]++;
	for (rank = RANKS; rank-- > least;) {
		c->count += ends[rank];
		ends[rank] = c->count - ends[rank];
	}
	c->order = xcalloc(c->count + 1, sizeof(*c->order));
	c->sorted = xcalloc(c->count + 1, sizeof(*c->sorted));
	c->places = xcalloc(c->count + 1, sizeof(*c->places));
	c->values = xcalloc(c->count + 1, sizeof(*c->values));
	for (c->count = 0, i = 1; i <= nodes; i++) {
		rank = segment_columns_rank(totals[i]);
		if (rank < least)
			continue;
		c->places[ends[rank]] = (uint32_t)c->count;
		c->order[ends[rank]++] = (uint32_t)i;
		c->sorted[c->count++] = (uint32_t)i;
	}
}

void segment_columns_done(struct segment_columns *c)
{
	free(c->order);
	free(c->sorted);
	free(c->places);
	free(c->values);
	*c = (struct segment_columns){ 0 };
}

/* Moves the nodes of columns that have counts, up to number @until, to the list, which has room for
 * one more; *@at is the first one in ->sorted, and *@to where it gets to. Zeros are overwritten: as
 * they are about as frequent as others, no branch would be foreseen. */
static void take_columns(const struct segment_columns *c, uint32_t until, size_t *at, size_t *to,
			 struct segment_list *list)
{
	const uint32_t *sorted = c->sorted;
	const uint64_t *values = c->values;
	size_t from = *at, n = *to;

	for (; from < c->count && sorted[from] <= until; from++) {
		list->ids[n] = sorted[from];
		list->counts[n] = values[from];
		n += values[from] != 0;
	}
	*at = from;
	*to = n;
}

bool segment_columns_read(struct segment_columns *c, struct slice_numbers n, size_t nodes,
			  struct segment_list *list)
{
	size_t others = list->count, at = 0, to = 0, i;
	struct slice_numbers counts;
	uint64_t id = 0;

	for (i = 0; i < c->count; i++) {
		const uint64_t value = slice_get(&n);

		c->values[c->places[i]] = value;
		others -= value != 0;
	}
	if (n.damaged || others > list->count)
		return false;
	for (counts = n, i = 0; i < others; i++)
		(void)slice_get(&counts);
	for (i = 0; i < others; i++) {
		uint64_t distance = slice_get(&n);

		id += distance;
		if (!distance || distance > nodes || id > nodes)
			return false;
		take_columns(c, (uint32_t)id, &at, &to, list);
		if (to && list->ids[to - 1] == id)
			return false;
		list->ids[to] = (uint32_t)id;
		list->counts[to++] = slice_get(&counts);
	}
	take_columns(c, UINT32_MAX, &at, &to, list);
	return !counts.damaged && counts.at == counts.end && to == list->count;
}
