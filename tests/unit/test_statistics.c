/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "profile/rows/statistics.h"

#include <math.h>

static bool close_to(double a, double b)
{
	return fabs(a - b) < 5e-5;
}

static struct statistics_part part(uint64_t count, uint64_t total)
{
	return (struct statistics_part){ count, total, 1 };
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
		struct statistics_interval s = statistics_share(part(rows[i].count, rows[i].total));

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
			s = statistics_share(part(count, SAMPLES));
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
		bool one = statistics_shares_differ(part(rows[i].a, rows[i].a_total),
						    part(rows[i].b, rows[i].b_total));
		bool other = statistics_shares_differ(part(rows[i].b, rows[i].b_total),
						      part(rows[i].a, rows[i].a_total));

		if (!CHECK(one == rows[i].differ && other == rows[i].differ))
			printf("# row %zu\n", i);
	}
}

static void counts_differ_where_the_test_says(void)
{
	CHECK(!statistics_counts_differ(part(0, 0), part(0, 0)));
	CHECK(!statistics_counts_differ(part(0, 0), part(5, 0)));
	CHECK(statistics_counts_differ(part(0, 0), part(6, 0)));
	CHECK(!statistics_counts_differ(part(100, 0), part(128, 0))); /* z = 1.788 */
	CHECK(statistics_counts_differ(part(100, 0), part(131, 0)));  /* 1.974 */
	CHECK(statistics_counts_differ(part(131, 0), part(100, 0)));
}

/* A sample that counts for 16 says as much as one that counts for 1. */
static void weights_do_not_make_samples(void)
{
	static const struct {
		uint64_t a, a_total, b, b_total;
	} rows[] = {
		{ 25, 1000, 40, 1000 },	  { 50, 2000, 80, 2000 },   { 100, 1000, 100, 2000 },
		{ 480, 1000, 524, 1000 }, { 478, 1000, 524, 1000 }, { 0, 100, 8, 100 },
		{ 0, 100, 3, 100 },	  { 100, 1000, 131, 1000 }, { 100, 1000, 128, 1000 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct statistics_part a = part(rows[i].a, rows[i].a_total), heavy_a = a;
		struct statistics_part b = part(rows[i].b, rows[i].b_total), heavy_b = b;
		struct statistics_interval light = statistics_share(a), heavy;

		heavy_a.count *= 16, heavy_a.total *= 16, heavy_a.weight = 16;
		heavy_b.count *= 16, heavy_b.total *= 16, heavy_b.weight = 16;
		heavy = statistics_share(heavy_a);
		if (!CHECK(fabs(light.low - heavy.low) < 1e-12 &&
			   fabs(light.high - heavy.high) < 1e-12 &&
			   statistics_shares_differ(heavy_a, heavy_b) ==
				   statistics_shares_differ(a, b) &&
			   statistics_counts_differ(heavy_a, heavy_b) ==
				   statistics_counts_differ(a, b)))
			printf("# row %zu\n", i);
	}
	/* 3.6 standard deviations where each counts once, 1.2 where those of one count for 16. */
	CHECK(statistics_counts_differ(part(1000, 0), part(1170, 0)));
	CHECK(!statistics_counts_differ(part(1000, 0), (struct statistics_part){ 1170, 0, 16 }));
}

TESTS(T(intervals_are_wilsons), T(intervals_hold_the_truth_as_often_as_they_say),
      T(shares_differ_where_the_test_says), T(counts_differ_where_the_test_says),
      T(weights_do_not_make_samples))
