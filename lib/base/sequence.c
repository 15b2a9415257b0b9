/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sequence.h"

#include "base/macro.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>

/* Time and memory grow with the square of the number of differences. */
enum { DIFFERENCES_MAX = 2000 };

/* What remains after the common ends were taken off, and how far each number of differences gets:
 * the ends of the paths on the diagonals (place in a minus place in b) -d to d, for each d. */
struct search {
	struct sequence a, b;
	int32_t *ends; /* of d: from d * d on */
	size_t room;
};

static int32_t *ends_of(const struct search *s, int d)
{
	return s->ends + (size_t)d * (size_t)d + d;
}

/* The diagonal that the best path with @d differences came from to diagonal @k. */
static int came_from(const int32_t *before, int d, int k)
{
	bool is_down = k == -d || (k != d && before[k - 1] < before[k + 1]);

	return is_down ? k + 1 : k - 1;
}

/* Extends all paths by a difference and what is equal after it. Returns whether one reaches the
 * ends of both. */
static bool extend(struct search *s, int d)
{
	const int64_t n = (int64_t)s->a.count, m = (int64_t)s->b.count;
	int32_t *ends;
	int k;

	array_grow(&s->ends, (size_t)(d + 1) * (size_t)(d + 1), &s->room);
	ends = ends_of(s, d);
	for (k = -d; k <= d; k += 2) {
		const int32_t *before = d ? ends_of(s, d - 1) : NULL;
		int from = d ? came_from(before, d, k) : 0;
		int64_t x = !d ? 0 : before[from] + (from < k), y = x - k;

		while (x < n && y < m && s->a.elements[x] == s->b.elements[y]) {
			x++;
			y++;
		}
		ends[k] = (int32_t)x;
		if (x == n && y == m)
			return true;
	}
	return false;
}

/* Goes back from the ends along the path with @d differences. */
static void trace_back(const struct search *s, int d, uint32_t *partners, uint32_t shift)
{
	int64_t x = (int64_t)s->a.count, y = (int64_t)s->b.count;

	for (;; d--) {
		int k = (int)(x - y), from = d ? came_from(ends_of(s, d - 1), d, k) : 0;
		int64_t start_x = d ? ends_of(s, d - 1)[from] : 0, start_y = d ? start_x - from : 0;

		while (x > start_x && y > start_y) {
			x--;
			y--;
			partners[x] = (uint32_t)y + shift;
		}
		if (d == 0)
			return;
		x = start_x;
		y = start_y;
	}
}

uint32_t *sequence_match(struct sequence a, struct sequence b)
{
	uint32_t *partners = xcalloc(a.count + 1, sizeof(*partners));
	struct search s = { 0 };
	size_t shared = MIN(a.count, b.count), start = 0, tail = 0, i;
	int d = 0;

	while (start < shared && a.elements[start] == b.elements[start])
		start++;
	while (tail < shared - start &&
	       a.elements[a.count - 1 - tail] == b.elements[b.count - 1 - tail])
		tail++;
	for (i = 0; i < a.count; i++)
		partners[i] = i < start		    ? (uint32_t)i
			      : i >= a.count - tail ? (uint32_t)(i + b.count - a.count)
						    : SEQUENCE_NONE;
	s.a = (struct sequence){ a.elements + start, a.count - start - tail };
	s.b = (struct sequence){ b.elements + start, b.count - start - tail };
	if (s.a.count && s.b.count && s.a.count < INT32_MAX && s.b.count < INT32_MAX) {
		while (d <= DIFFERENCES_MAX && !extend(&s, d))
			d++;
		if (d <= DIFFERENCES_MAX)
			trace_back(&s, d, partners + start, (uint32_t)start);
	}
	free(s.ends);
	return partners;
}
