/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/internal/nested_ranges.h"

#include "base/mem.h"

#include <string.h>

void nested_ranges_add(struct nested_ranges *s, uint64_t start, uint64_t end, uint32_t depth,
		       uint32_t value)
{
	if (start >= end)
		return;
	array_grow(&s->pieces, s->piece_count + 1, &s->piece_room);
	s->pieces[s->piece_count++] = (struct nested_ranges_piece){ start, end, depth, value };
}

static int compare_pieces(const void *pa, const void *pb)
{
	const struct nested_ranges_piece *a = pa, *b = pb;

	if (a->start != b->start)
		return (a->start > b->start) - (a->start < b->start);
	if (a->depth != b->depth)
		return (a->depth > b->depth) - (a->depth < b->depth);
	return (a->value < b->value) - (a->value > b->value);
}

/* Whether @a takes precedence over @b. */
static bool is_inner(const struct nested_ranges_piece *a, const struct nested_ranges_piece *b)
{
	if (a->depth != b->depth)
		return a->depth > b->depth;
	if (a->start != b->start)
		return a->start > b->start;
	return a->value < b->value;
}

/* Ranges that contain the sweep's position, the innermost on top. */
struct heap {
	struct nested_ranges_piece *pieces;
	size_t count, room;
};

static void heap_push(struct heap *h, const struct nested_ranges_piece *piece)
{
	size_t i;

	array_grow(&h->pieces, h->count + 1, &h->room);
	for (i = h->count++; i && is_inner(piece, &h->pieces[(i - 1) / 2]); i = (i - 1) / 2)
		h->pieces[i] = h->pieces[(i - 1) / 2];
	h->pieces[i] = *piece;
}

static void heap_pop(struct heap *h)
{
	struct nested_ranges_piece last = h->pieces[--h->count];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < h->count; i = child) {
		if (child + 1 < h->count && is_inner(&h->pieces[child + 1], &h->pieces[child]))
			child++;
		if (!is_inner(&h->pieces[child], &last))
			break;
		h->pieces[i] = h->pieces[child];
	}
	h->pieces[i] = last;
}

static void put(struct nested_ranges *s, uint64_t start, uint32_t value)
{
	if (s->count && s->starts[s->count - 1].start == start)
		s->count--;
	if (s->count && s->starts[s->count - 1].value == value)
		return;
	array_grow(&s->starts, s->count + 1, &s->room);
	s->starts[s->count++] = (struct nested_ranges_start){ start, value };
}

/* Closes the ranges that end up to @limit, and notes which one is the innermost then. */
static void close_up_to(struct nested_ranges *s, struct heap *open, uint64_t limit)
{
	while (open->count && open->pieces[0].end <= limit) {
		uint64_t end = open->pieces[0].end;

		heap_pop(open);
		/* Outer ranges may have ended before. */
		while (open->count && open->pieces[0].end <= end)
			heap_pop(open);
		put(s, end, open->count ? open->pieces[0].value : UINT32_MAX);
	}
}

void nested_ranges_settle(struct nested_ranges *s)
{
	struct heap open = { NULL, 0, 0 };
	size_t i;

	if (s->piece_count)
		qsort(s->pieces, s->piece_count, sizeof(*s->pieces), compare_pieces);
	for (i = 0; i < s->piece_count; i++) {
		close_up_to(s, &open, s->pieces[i].start);
		heap_push(&open, &s->pieces[i]);
		put(s, s->pieces[i].start, open.pieces[0].value);
	}
	close_up_to(s, &open, UINT64_MAX);
	free(open.pieces);
	free(s->pieces);
	s->pieces = NULL;
	s->piece_count = s->piece_room = 0;
}

bool nested_ranges_find(struct nested_ranges *s, uint64_t address, uint32_t *ret)
{
	size_t i = s->last;

	if (i >= s->count || s->starts[i].start > address ||
	    (i + 1 < s->count && s->starts[i + 1].start <= address)) {
		i = FIRST_NOT(k, 0, s->count, s->starts[k].start <= address);
		if (!i)
			return false;
		s->last = --i;
	}
	*ret = s->starts[i].value;
	return *ret != UINT32_MAX;
}

size_t nested_ranges_bytes(const struct nested_ranges *s)
{
	return s->room * sizeof(*s->starts) + s->piece_room * sizeof(*s->pieces);
}

void nested_ranges_done(struct nested_ranges *s)
{
	free(s->pieces);
	free(s->starts);
	*s = (struct nested_ranges){ 0 };
}
