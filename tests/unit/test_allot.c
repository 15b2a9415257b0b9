/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/allot.h"

#include "test.h"

#include <errno.h>

static void events_get_counters_that_count_them(void)
{
	static const struct {
		uint64_t wanted[5];
		size_t count;
		int counters[5];
		uint64_t collide, contended; /* none: they fit */
	} rows[] = {
		{ { 0x1 }, 1, { 0 }, 0, 0 },
		{ { 0xf, 0xf }, 2, { 0, 1 }, 0, 0 },
		{ { 0 }, 1, { ALLOT_NONE }, 0, 0 },
		{ { 0x3, 0, 0x1 }, 3, { 1, ALLOT_NONE, 0 }, 0, 0 }, /* the first gives way */
		{ { 0x3, 0x6, 0x1 }, 3, { 1, 2, 0 }, 0, 0 },	    /* and moves another */
		{ { 0x1, 0x1 }, 2, { 0 }, 0x3, 0x1 },
		{ { 0x3, 0x3, 0xf, 0x3 }, 4, { 0 }, 0xb, 0x3 }, /* not the third */
		{ { 0x8, 0x3, 0x4, 0x7, 0x7 }, 5, { 0 }, 0x1e, 0x7 },
		{ { 1ULL << 63, UINT64_MAX }, 2, { 63, 0 }, 0, 0 },
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct allotment a = { 0 };
		int r = allot(rows[i].wanted, rows[i].count, &a);

		printf("# row %zu\n", i);
		CHECK_EQ(r, rows[i].collide ? -EBUSY : 0);
		CHECK_EQ(a.collide, rows[i].collide);
		CHECK_EQ(a.contended, rows[i].contended);
		for (k = 0; r == 0 && k < rows[i].count; k++)
			CHECK_EQ(a.counter[k], rows[i].counters[k]);
	}
}

/* Whether the events from @first on fit into the counters that are free. */
static bool fits(const uint64_t *wanted, size_t first, size_t count, uint64_t free_counters)
{
	uint64_t bit;

	if (first == count)
		return true;
	if (!wanted[first])
		return fits(wanted, first + 1, count, free_counters);
	for (bit = 1; bit <= free_counters; bit <<= 1)
		if (wanted[first] & free_counters & bit &&
		    fits(wanted, first + 1, count, free_counters & ~bit))
			return true;
	return false;
}

/* Whether those that collide do: more than the counters that can count them, and not without the
 * last. */
static bool really_collide(const uint64_t *wanted, size_t count, const struct allotment *a)
{
	uint64_t some[ALLOT_MAX], counters = 0;
	size_t i, n = 0;

	for (i = 0; i < count; i++)
		if (a->collide >> i & 1) {
			some[n++] = wanted[i];
			counters |= wanted[i];
		}
	return n && counters == a->contended && (size_t)__builtin_popcountll(counters) < n &&
	       fits(some, 0, n - 1, counters);
}

static void whenever_there_is_a_way(void)
{
	enum { EVENTS = 4, SETS = 8, ALL = SETS * SETS * SETS * SETS };
	size_t i, k, wrong = 0;

	for (i = 0; i < ALL; i++) {
		uint64_t wanted[EVENTS] = { i % SETS, i / SETS % SETS, i / SETS / SETS % SETS,
					    i / SETS / SETS / SETS },
			 taken = 0;
		struct allotment a;
		bool found = allot(wanted, EVENTS, &a) == 0;

		wrong += found != fits(wanted, 0, EVENTS, SETS - 1);
		wrong += !found && !really_collide(wanted, EVENTS, &a);
		for (k = 0; found && k < EVENTS; k++) {
			uint64_t bit = a.counter[k] < 0 ? 0 : 1ULL << a.counter[k];

			wrong += (bit & taken) || (wanted[k] ? !(bit & wanted[k]) : bit != 0);
			taken |= bit;
		}
	}
	CHECK_EQ(wrong, 0);
}

TESTS(T(events_get_counters_that_count_them), T(whenever_there_is_a_way))
