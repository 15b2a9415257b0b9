/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/profile/rows/statistics.c: time off the CPU, whose microseconds are not independent. */
#include "test.h"

#include "profile/rows/statistics.h"

#include <math.h>

enum { ROWS = 4 };

/* From 0 to 1. */
static double draw(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return ((double)(*state >> 40) + 0.5) / (1 << 24);
}

/* A program: how long it waits in each function on average, and how often. */
struct program {
	double us[ROWS], often[ROWS];
};

static const struct program programs[] = {
	{ { 1000, 1000, 1000, 1000 }, { 0.25, 0.25, 0.25, 0.25 } },
	{ { 20, 20, 20, 20 }, { 0.7, 0.2, 0.08, 0.02 } },
	/* many short waits for a lock, and few that are ten thousand times as long */
	{ { 20, 100, 5000, 200000 }, { 0.5, 0.3, 0.15, 0.05 } },
	/* most of the time in one function, the longest waits in another */
	{ { 1000, 1000, 100, 50000 }, { 0.90, 0.08, 0.018, 0.002 } },
};

struct session {
	struct statistics_part rows[ROWS];
};

/* A session of so many waits on average, of random lengths. */
static void record(const struct program *p, double waits, uint64_t *state, struct session *ret)
{
	double squares = 0, at = 0;
	uint64_t total = 0;
	size_t i;

	*ret = (struct session){ 0 };
	/* The times between waits, in which a Poisson process has them. */
	while ((at -= log(draw(state))) < waits) {
		double which = draw(state);
		uint64_t us;

		for (i = 0; i + 1 < ROWS && which > p->often[i]; i++)
			which -= p->often[i];
		us = (uint64_t)ceil(-log(draw(state)) * p->us[i]);
		ret->rows[i].count += us;
		total += us;
		squares += (double)us * (double)us;
	}
	for (i = 0; i < ROWS; i++) {
		ret->rows[i].total = total;
		ret->rows[i].noise = (struct statistics_noise){ .weight = 1, .squares = squares };
	}
}

/* The share of the pairs of rows in two sessions that differ, by shares or by counts. */
static double share_that_differs(const struct program *a, const struct program *b, double waits,
				 size_t row, bool by_share)
{
	enum { PAIRS = 1000 };
	uint64_t state = 11;
	double differ = 0;
	size_t i;

	for (i = 0; i < PAIRS; i++) {
		struct session x, y;
		double chance;

		record(a, waits, &state, &x);
		record(b, waits, &state, &y);
		chance = by_share ? statistics_shares_chance(x.rows[row], y.rows[row])
				  : statistics_counts_chance(x.rows[row], y.rows[row]);
		differ += chance <= STATISTICS_LEVEL;
	}
	return differ / PAIRS;
}

static void equal_sessions_rarely_differ(void)
{
	static const double waits[] = { 30, 300 };
	size_t i, j, row;
	int by_share;

	for (i = 0; i < ARRAY_SIZE(programs); i++)
		for (j = 0; j < ARRAY_SIZE(waits); j++)
			for (row = 0; row < ROWS; row++)
				for (by_share = 0; by_share < 2; by_share++) {
					double differ =
						share_that_differs(&programs[i], &programs[i],
								   waits[j], row, by_share);

					if (!CHECK(differ <= 0.06))
						printf("# program %zu, %.0f waits, row %zu: %f\n",
						       i, waits[j], row, differ);
				}
}

/* A function that waits twice as often, or twice as long. */
static void true_differences_are_found(void)
{
	const struct program often = { { 1000, 1000, 1000, 1000 }, { 0.4, 0.2, 0.2, 0.2 } };
	const struct program length = { { 2000, 1000, 1000, 1000 }, { 0.25, 0.25, 0.25, 0.25 } };
	int by_share;

	for (by_share = 0; by_share < 2; by_share++) {
		CHECK(share_that_differs(&programs[0], &often, 4000, 0, by_share) > 0.95);
		CHECK(share_that_differs(&programs[0], &length, 4000, 0, by_share) > 0.95);
	}
}

static void intervals_hold_the_truth(void)
{
	enum { SESSIONS = 1000 };
	uint64_t state = 5;
	size_t i, k, row;

	for (i = 0; i < ARRAY_SIZE(programs); i++) {
		const struct program *p = &programs[i];
		double all = 0, held[ROWS] = { 0 };
		struct session s;

		for (row = 0; row < ROWS; row++)
			all += p->us[row] * p->often[row];
		for (k = 0; k < SESSIONS; k++) {
			record(p, 300, &state, &s);
			for (row = 0; row < ROWS; row++) {
				double truth = p->us[row] * p->often[row] / all;
				struct statistics_interval share = statistics_share(s.rows[row]);

				/* What was never seen has no interval. */
				held[row] += !s.rows[row].count ||
					     (share.low <= truth && truth <= share.high);
			}
		}
		for (row = 0; row < ROWS; row++)
			if (!CHECK(held[row] >= SESSIONS * 0.93))
				printf("# program %zu, row %zu: %f\n", i, row,
				       held[row] / SESSIONS);
	}
}

/* It may have been one wait. */
static void waits_that_were_not_counted_show_nothing(void)
{
	const struct statistics_noise unknown = { .weight = 1, .squares = HUGE_VAL };
	const struct statistics_part few = { 1000, 1000000000, unknown };
	const struct statistics_part most = { 900000000, 1000000000, unknown };
	struct statistics_interval share = statistics_share(most);

	CHECK_EQ(statistics_shares_chance(few, most), 1);
	CHECK(statistics_counts_chance(few, most) > STATISTICS_LEVEL);
	CHECK(share.high - share.low > 0.75);
}

TESTS(T(equal_sessions_rarely_differ), T(true_differences_are_found), T(intervals_hold_the_truth),
      T(waits_that_were_not_counted_show_nothing))
