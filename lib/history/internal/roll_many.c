/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/roll_many.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "history/internal/segment_roll.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
	NODES_AT_ONCE = 1000000, /* each takes up to 150 bytes of memory */
	FINER = 2,		 /* what is folded at first has less samples by this factor */
};

/* Segments in memory, each made of some inputs. */
struct parts {
	struct strbuf *bytes;
	size_t count, room;
};

static void parts_done(struct parts *p)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		strbuf_done(&p->bytes[i]);
	free(p->bytes);
}

static int open_part(void *data, size_t i, struct segment **ret)
{
	const struct parts *p = data;
	int r = segment_open_bytes(p->bytes[i].text, p->bytes[i].length, ret, NULL);

	return r < 0 ? r : segment_load(*ret, NULL);
}

/* Some inputs that are rolled up together. */
struct batch {
	struct segment_roll *roll;
	struct segment **segments;
	size_t count, room;
};

static void batch_done(struct batch *b)
{
	size_t i;

	for (i = 0; i < b->count; i++)
		segment_free(b->segments[i]);
	free(b->segments);
	segment_roll_free(b->roll);
}

/* Adds inputs from @*at on, at least two if there are so many, until they have enough nodes. Only
 * one at a time has its own in memory. */
static int add_batch(const struct roll_inputs *from, size_t *at, struct batch *b)
{
	size_t nodes = 0;

	b->roll = segment_roll_new();
	while (*at < from->count && (b->count < 2 || nodes < NODES_AT_ONCE)) {
		struct segment *s = NULL;
		int r = from->open(from->data, (*at)++, &s);

		if (s) {
			array_grow(&b->segments, b->count + 1, &b->room);
			b->segments[b->count++] = s;
		}
		if (r < 0)
			return r;
		if (s)
			nodes = segment_roll_add(b->roll, s);
	}
	return 0;
}

/* Rolls all inputs up to as few parts as memory allows. Returns the number of damaged slices, or
 * -errno. */
static int roll_round(const struct segment_rolling *how, const struct roll_inputs *from,
		      struct parts *ret)
{
	struct segment_rolling finer = *how;
	size_t at = 0;
	int damaged = 0;

	finer.part = how->part * FINER;
	finer.is_small = false;
	do {
		_cleanup_(batch_done) struct batch b = { 0 };
		bool is_all;
		int r = add_batch(from, &at, &b);

		if (r < 0)
			return r;
		is_all = at == from->count && !ret->count;
		array_grow(&ret->bytes, ret->count + 1, &ret->room);
		ret->bytes[ret->count++] = STRBUF_INIT;
		r = segment_roll_end(b.roll, is_all ? how : &finer, &ret->bytes[ret->count - 1]);
		if (r < 0)
			return r;
		damaged += r;
	} while (at < from->count);
	return damaged;
}

int roll_many(const struct segment_rolling *how, const struct roll_inputs *inputs,
	      struct strbuf *out)
{
	_cleanup_(parts_done) struct parts parts = { 0 };
	int damaged = roll_round(how, inputs, &parts), r = damaged;

	while (r >= 0 && parts.count > 1) {
		struct parts next = { 0 };

		r = roll_round(how, &(struct roll_inputs){ parts.count, open_part, &parts }, &next);
		parts_done(&parts);
		parts = next;
	}
	if (r < 0)
		return r;
	strbuf_add(out, parts.bytes[0].text, parts.bytes[0].length);
	return damaged;
}
