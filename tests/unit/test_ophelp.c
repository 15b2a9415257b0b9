/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allotment of counters; what ophelp prints is in tests/golden/ophelp. */
#include "test.h"

#include "ophelp_check.h"

#include <errno.h>

static void events_get_counters_that_count_them(void)
{
	static const struct {
		uint64_t wanted[4];
		size_t count, which;
		int r, counters[4];
	} rows[] = {
		{ { 0x1 }, 1, 0, 0, { 0 } },
		{ { 0xf, 0xf }, 2, 0, 0, { 0, 1 } },
		{ { 0 }, 1, 0, 0, { OPHELP_NO_COUNTER } },
		{ { 0x3, 0, 0x1 }, 3, 0, 0, { 1, OPHELP_NO_COUNTER, 0 } }, /* the first gives way */
		{ { 0x3, 0x6, 0x1 }, 3, 0, 0, { 1, 2, 0 } },		   /* and moves another */
		{ { 0x1, 0x1 }, 2, 1, -EBUSY, { 0 } },
		{ { 0x3, 0x3, 0xf, 0x3 }, 4, 3, -EBUSY, { 0 } },
		{ { 1ULL << 63, UINT64_MAX }, 2, 0, 0, { 63, 0 } },
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int counters[4], r;
		size_t which = 0;

		printf("# row %zu\n", i);
		r = ophelp_allot(rows[i].wanted, rows[i].count, counters, &which);
		CHECK_EQ(r, rows[i].r);
		CHECK_EQ(which, rows[i].which);
		for (k = 0; r == 0 && k < rows[i].count; k++)
			CHECK_EQ(counters[k], rows[i].counters[k]);
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

static void whenever_there_is_a_way(void)
{
	enum { EVENTS = 4, SETS = 8, ALL = SETS * SETS * SETS * SETS };
	size_t i, k, wrong = 0, which;

	for (i = 0; i < ALL; i++) {
		uint64_t wanted[EVENTS] = { i % SETS, i / SETS % SETS, i / SETS / SETS % SETS,
					    i / SETS / SETS / SETS },
			 taken = 0;
		int counters[EVENTS];
		bool found = ophelp_allot(wanted, EVENTS, counters, &which) == 0;

		wrong += found != fits(wanted, 0, EVENTS, SETS - 1);
		for (k = 0; found && k < EVENTS; k++) {
			uint64_t bit = counters[k] < 0 ? 0 : 1ULL << counters[k];

			wrong += (bit & taken) || (wanted[k] ? !(bit & wanted[k]) : bit != 0);
			taken |= bit;
		}
	}
	CHECK_EQ(wrong, 0);
}

TESTS(T(events_get_counters_that_count_them), T(whenever_there_is_a_way))
