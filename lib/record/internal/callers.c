/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/callers.h"

#include "base/mem.h"

#include <string.h>

static void make_place(struct callers_table *t, size_t number)
{
	if (number < t->count)
		return;
	array_grow(&t->by_number, number + 1, &t->room);
	memset(t->by_number + t->count, 0, (number + 1 - t->count) * sizeof(*t->by_number));
	t->count = number + 1;
}

bool callers_begin(struct callers_table *t, uint64_t number, uint64_t end, uint64_t length)
{
	struct callers *c;

	t->filling = NULL;
	if (number >= EVBUF_LISTS_MAX || length > EVBUF_FRAMES_MAX || end >= CHAIN_END_COUNT_)
		return false;
	make_place(t, (size_t)number);
	free(t->by_number[number]);
	c = xcalloc(1, sizeof(*c) + length * sizeof(*c->frames));
	c->end = end;
	c->room = (uint32_t)length;
	t->by_number[number] = t->filling = c;
	return true;
}

bool callers_add(struct callers_table *t, const struct evbuf_frame *frame)
{
	struct callers *c = t->filling;

	if (!c || c->count == c->room)
		return false;
	c->frames[c->count++] = *frame;
	return true;
}

struct callers *callers_get(const struct callers_table *t, uint64_t number)
{
	return number < t->count ? t->by_number[number] : NULL;
}

void callers_table_done(struct callers_table *t)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		free(t->by_number[i]);
	free(t->by_number);
	*t = CALLERS_TABLE_INIT;
}
