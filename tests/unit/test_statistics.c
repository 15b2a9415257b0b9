/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "profile/statistics.h"

#include <math.h>

static bool close_to(double a, double b)
{
	return fabs(a - b) < 5e-5;
}

/* From published tables of Wilson's interval, to four digits. */
static void intervals_are_wilsons(void)
{
	static const struct {
		uint64_t count, total;
		double low, high;
	} rows[] = {
		{ 0, 10, 0, 0.2775 },
		{ 10, 10, 0.7225, 1 },
		{ 1, 10, 0.0179, 0.4042 },
		{ 5, 10, 0.2366, 0.7634 },
		{ 50, 100, 0.4038, 0.5962 },
		{ 15, 148, 0.0624, 0.1605 },
		{ 81, 263, 0.2553, 0.3662 },
		{ 1, 1, 0.2065, 1 },
		{ 0, 0, 0, 1 },
		{ 500000, 1000000, 0.4990, 0.5010 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct statistics_interval s = statistics_share(rows[i].count, rows[i].total);

		if (!CHECK(close_to(s.low, rows[i].low) && close_to(s.high, rows[i].high)))
			printf("# row %zu: %f to %f\n", i, s.low, s.high);
	}
}

/* What the interval promises: it holds the true share in about 95 of 100 profiles. */
static void intervals_hold_the_truth_as_often_as_they_say(void)
{
	enum { PROFILES = 2000, SAMPLES = 400 };
	static const double truths[] = { 0.02, 0.1, 0.5 };
	uint32_t state = 7;
	size_t i, j, k;

	for (i = 0; i < ARRAY_SIZE(truths); i++) {
		unsigned int held = 0;

		for (j = 0; j < PROFILES; j++) {
			struct statistics_interval s;
			unsigned int count = 0;

			for (k = 0; k < SAMPLES; k++) {
				state = state * 1664525 + 1013904223;
				count += (double)(state >> 8) / (1 << 24) < truths[i];
			}
			s = statistics_share(count, SAMPLES);
			held += s.low <= truths[i] && truths[i] <= s.high;
		}
		if (!CHECK(held > PROFILES * 93 / 100 && held < PROFILES * 98 / 100))
			printf("# share %f: %u of %d\n", truths[i], held, PROFILES);
	}
}

static void shares_differ_where_the_test_says(void)
{
	static const struct {
		uint64_t a, a_total, b, b_total;
		bool differ;
	} rows[] = {
		/* z = 1.765 and, with twice as many, 2.586 */
		{ 25, 1000, 40, 1000, false },
		{ 50, 2000, 80, 2000, true },
		/* the same counts of different totals, and different counts of one share */
		{ 100, 1000, 100, 2000, true },
		{ 100, 1000, 200, 2000, false },
		/* on both sides of 1.96: 1.923, 2.012 */
		{ 480, 1000, 524, 1000, false },
		{ 478, 1000, 524, 1000, true },
		/* few samples show nothing */
		{ 0, 100, 3, 100, false },
		{ 1, 10, 5, 10, false },
		{ 0, 100, 8, 100, true },
		{ 5, 5, 5, 5, false },
		{ 0, 0, 5, 10, false },
		{ 3, 10, 0, 0, false },
		/* no overflow */
		{ UINT64_MAX / 2, UINT64_MAX, UINT64_MAX / 4, UINT64_MAX, true },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bool one = statistics_shares_differ(rows[i].a, rows[i].a_total, rows[i].b,
						    rows[i].b_total);
		bool other = statistics_shares_differ(rows[i].b, rows[i].b_total, rows[i].a,
						      rows[i].a_total);

		if (!CHECK(one == rows[i].differ && other == rows[i].differ))
			printf("# row %zu\n", i);
	}
}

static void counts_differ_where_the_test_says(void)
{
	CHECK(!statistics_counts_differ(0, 0));
	CHECK(!statistics_counts_differ(0, 5));
	CHECK(statistics_counts_differ(0, 6));
	CHECK(!statistics_counts_differ(100, 128)); /* z = 1.788 */
	CHECK(statistics_counts_differ(100, 131));  /* 1.974 */
	CHECK(statistics_counts_differ(131, 100));
}

TESTS(T(intervals_are_wilsons), T(intervals_hold_the_truth_as_often_as_they_say),
      T(shares_differ_where_the_test_says), T(counts_differ_where_the_test_says))
