/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "profile/rows/statistics.h"

#include <math.h>
#include <stdlib.h>

static bool close_to(double a, double b)
{
	return fabs(a - b) < 5e-5;
}

static bool shares_differ(struct statistics_part a, struct statistics_part b)
{
	return statistics_shares_chance(a, b) <= STATISTICS_LEVEL;
}

static bool counts_differ(struct statistics_part a, struct statistics_part b)
{
	return statistics_counts_chance(a, b) <= STATISTICS_LEVEL;
}

static const struct statistics_noise one_each = { .weight = 1 };

static struct statistics_part part(uint64_t count, uint64_t total)
{
	return (struct statistics_part){ count, total, { 1, 0, 0 } };
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
		bool one = shares_differ(part(rows[i].a, rows[i].a_total),
					 part(rows[i].b, rows[i].b_total));
		bool other = shares_differ(part(rows[i].b, rows[i].b_total),
					   part(rows[i].a, rows[i].a_total));

		if (!CHECK(one == rows[i].differ && other == rows[i].differ))
			printf("# row %zu\n", i);
	}
}

static void counts_differ_where_the_test_says(void)
{
	CHECK(!counts_differ(part(0, 0), part(0, 0)));
	CHECK(!counts_differ(part(0, 0), part(5, 0)));
	CHECK(counts_differ(part(0, 0), part(6, 0)));
	CHECK(!counts_differ(part(100, 0), part(128, 0))); /* z = 1.788 */
	CHECK(counts_differ(part(100, 0), part(131, 0)));  /* 1.974 */
	CHECK(counts_differ(part(131, 0), part(100, 0)));
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

		heavy_a.count *= 16, heavy_a.total *= 16, heavy_a.noise.weight = 16;
		heavy_b.count *= 16, heavy_b.total *= 16, heavy_b.noise.weight = 16;
		heavy = statistics_share(heavy_a);
		if (!CHECK(fabs(light.low - heavy.low) < 1e-12 &&
			   fabs(light.high - heavy.high) < 1e-12 &&
			   shares_differ(heavy_a, heavy_b) == shares_differ(a, b) &&
			   counts_differ(heavy_a, heavy_b) == counts_differ(a, b)))
			printf("# row %zu\n", i);
	}
	/* 3.6 standard deviations where each counts once, 1.2 where those of one count for 16. */
	CHECK(counts_differ(part(1000, 0), part(1170, 0)));
	CHECK(!counts_differ(part(1000, 0), (struct statistics_part){ 1170, 0, { 16, 0, 0 } }));
}

/* --- blocks --- */

enum { MOST = 64 };

/* A profile in blocks: of a share in time, and of all samples. */
struct profile {
	uint64_t counts[MOST], totals[MOST];
	size_t blocks;
};

static double draw(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return (double)(*state >> 11) / (double)(UINT64_C(1) << 53);
}

static double draw_time(uint64_t *state, double mean)
{
	return -mean * log(1 - draw(state));
}

/* A program that works in bursts: it has a share of 0.1 in bursts, and of 0.01 between them. */
struct program {
	double bursts_s, pauses_s; /* how long they are on average */
};

enum { BLOCK_S = 10, BLOCK_SAMPLES = 100 };
static const double high = 0.1, low = 0.01;

static double truth_of(const struct program *p)
{
	return (high * p->bursts_s + low * p->pauses_s) / (p->bursts_s + p->pauses_s);
}

static struct profile run_program(const struct program *p, size_t blocks, uint64_t *state)
{
	struct profile made = { .blocks = blocks };
	bool busy = draw(state) < p->bursts_s / (p->bursts_s + p->pauses_s);
	double left = draw_time(state, busy ? p->bursts_s : p->pauses_s);
	size_t i, k;

	for (i = 0; i < blocks; i++) {
		for (k = 0; k < BLOCK_SAMPLES; k++) {
			for (left -= (double)BLOCK_S / BLOCK_SAMPLES; left < 0; busy = !busy)
				left += draw_time(state, busy ? p->pauses_s : p->bursts_s);
			made.counts[i] += draw(state) < (busy ? high : low);
		}
		made.totals[i] = BLOCK_SAMPLES;
	}
	return made;
}

static struct statistics_blocks blocks_of(const struct profile *p)
{
	return (struct statistics_blocks){ p->counts, p->totals, p->blocks, false, NULL };
}

static struct statistics_part whole_of(const struct profile *p, bool of_share)
{
	struct statistics_blocks blocks = blocks_of(p);
	struct statistics_part whole = { 0 };
	size_t i;

	for (i = 0; i < p->blocks; i++) {
		whole.count += p->counts[i];
		whole.total += p->totals[i];
	}
	whole.noise = of_share ? statistics_share_noise(&blocks, one_each)
			       : statistics_count_noise(&blocks, one_each);
	return whole;
}

/* Blocks of which less was recorded have fewer samples. That is no noise. */
static void lengths_of_blocks_are_no_noise(void)
{
	enum { BLOCKS = 16 };
	uint64_t counts[BLOCKS], totals[BLOCKS], lengths[BLOCKS];
	struct statistics_blocks blocks = { counts, totals, BLOCKS, false, NULL };
	size_t i;

	for (i = 0; i < BLOCKS; i++) {
		lengths[i] = i < BLOCKS / 2 ? 10000 : 4000;
		counts[i] = lengths[i] / 10;
		totals[i] = lengths[i] / 4;
	}
	CHECK(statistics_count_noise(&blocks, one_each).factor > 10);
	blocks.lengths = lengths;
	CHECK_EQ(statistics_count_noise(&blocks, one_each).factor, 1);
	/* One without samples was recorded, too. */
	counts[3] = totals[3] = 0;
	CHECK(statistics_count_noise(&blocks, one_each).factor > 10);
	CHECK_EQ(statistics_share_noise(&blocks, one_each).factor, 1);
}

/* Bursts of several lengths, in profiles of ten minutes and more: the interval holds the truth
 * about as often as it says, and of pairs of equal profiles about as few differ. Without blocks, 36
 * of 100 intervals miss the truth, and 3 in 10 pairs differ, at bursts of ten seconds. */
static void bursts_are_noise(void)
{
	enum { PAIRS = 1500 };
	static const struct {
		struct program program;
		size_t blocks;
		double missed, differ; /* at most, of 1 */
		double alone;	       /* differ without blocks, at least */
	} rows[] = {
		{ { 0.2, 0.2 }, 60, 0.05, 0.05, 0.02 }, { { 3, 3 }, 60, 0.06, 0.06, 0.1 },
		{ { 10, 10 }, 60, 0.065, 0.06, 0.25 },	{ { 10, 90 }, 64, 0.12, 0.05, 0.25 },
		{ { 30, 30 }, 64, 0.085, 0.075, 0.5 },	{ { 3, 3 }, 12, 0.075, 0.06, 0.1 },
		{ { 10, 10 }, 12, 0.10, 0.075, 0.25 },
	};
	uint64_t state = 11;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct program *p = &rows[i].program;
		double missed = 0, differ = 0, alone = 0;

		for (j = 0; j < PAIRS; j++) {
			struct profile a = run_program(p, rows[i].blocks, &state),
				       b = run_program(p, rows[i].blocks, &state);
			struct statistics_part x = whole_of(&a, true), y = whole_of(&b, true);
			struct statistics_interval interval = statistics_share(x);

			missed += interval.low > truth_of(p) || interval.high < truth_of(p);
			differ += shares_differ(x, y);
			alone += shares_differ(part(x.count, x.total), part(y.count, y.total));
		}
		if (!CHECK(missed <= PAIRS * rows[i].missed && differ <= PAIRS * rows[i].differ &&
			   alone >= PAIRS * rows[i].alone))
			printf("# row %zu: %.1f %% missed, %.1f %% differ, %.1f %% without "
			       "blocks\n",
			       i, 100 * missed / PAIRS, 100 * differ / PAIRS, 100 * alone / PAIRS);
	}
}

/* What is not chance is still found: a share that is half as large again, in steady programs. */
static void blocks_hide_no_difference(void)
{
	enum { PAIRS = 300, BLOCKS = 60 };
	uint64_t state = 5;
	unsigned int found = 0, found_counts = 0;
	size_t i, j;

	for (i = 0; i < PAIRS; i++) {
		struct profile a = run_program(&(struct program){ 0.2, 0.2 }, BLOCKS, &state),
			       b = run_program(&(struct program){ 0.2, 0.2 }, BLOCKS, &state);

		for (j = 0; j < BLOCKS; j++)
			b.counts[j] += draw(&state) < 0.5 ? 5 : 1;
		found += shares_differ(whole_of(&a, true), whole_of(&b, true));
		found_counts += counts_differ(whole_of(&a, false), whole_of(&b, false));
	}
	if (!CHECK(found > PAIRS * 99 / 100 && found_counts > PAIRS * 99 / 100))
		printf("# %u, %u of %d\n", found, found_counts, PAIRS);
}

static void equal_counts_differ_rarely(void)
{
	enum { PAIRS = 1500, BLOCKS = 60 };
	uint64_t state = 3;
	double differ = 0, alone = 0;
	size_t i;

	for (i = 0; i < PAIRS; i++) {
		struct profile a = run_program(&(struct program){ 10, 10 }, BLOCKS, &state),
			       b = run_program(&(struct program){ 10, 10 }, BLOCKS, &state);
		struct statistics_part x = whole_of(&a, false), y = whole_of(&b, false);

		differ += counts_differ(x, y);
		alone += counts_differ(part(x.count, x.total), part(y.count, y.total));
	}
	if (!CHECK(differ < PAIRS * 0.06 && alone > PAIRS * 0.25))
		printf("# %.1f %% differ, %.1f %% without blocks\n", 100 * differ / PAIRS,
		       100 * alone / PAIRS);
}

/* Three profiles on each side whose shares vary more than samples do: builds, days, machines. */
static void sessions_show_what_repeats(void)
{
	enum { PAIRS = 2000, SESSIONS = 3, SAMPLES = 20000 };
	uint64_t state = 9;
	double differ = 0, found = 0, alone = 0;
	size_t i, j, side;

	for (i = 0; i < PAIRS; i++) {
		uint64_t counts[3][SESSIONS], totals[SESSIONS];
		struct statistics_part parts[3] = { 0 };

		for (side = 0; side < ARRAY_SIZE(parts); side++) {
			struct statistics_blocks blocks = { counts[side], totals, SESSIONS, true };

			for (j = 0; j < SESSIONS; j++) {
				/* About normal, with a standard deviation of a tenth. */
				double sum = draw(&state) + draw(&state) + draw(&state) - 1.5;

				totals[j] = SAMPLES;
				counts[side][j] =
					(uint64_t)((side == 2 ? 3000 : 2000) * (1 + 0.2 * sum));
				parts[side].count += counts[side][j];
				parts[side].total += totals[j];
			}
			parts[side].noise = statistics_share_noise(&blocks, one_each);
		}
		differ += shares_differ(parts[0], parts[1]);
		found += shares_differ(parts[0], parts[2]);
		alone += shares_differ(part(parts[0].count, parts[0].total),
				       part(parts[1].count, parts[1].total));
	}
	if (!CHECK(differ < PAIRS * 0.065 && found > PAIRS * 0.7 && alone > PAIRS * 0.5))
		printf("# %.1f %% differ, %.1f %% found, %.1f %% without blocks\n",
		       100 * differ / PAIRS, 100 * found / PAIRS, 100 * alone / PAIRS);
}

static void few_blocks_show_nothing(void)
{
	struct profile p = { .blocks = STATISTICS_BLOCKS_LEAST - 1 };
	struct statistics_noise noise;
	size_t i;

	for (i = 0; i < MOST; i++) {
		p.counts[i] = i % 2 ? 100 : 0;
		p.totals[i] = i < 10 ? 100 : 0;
	}
	noise = whole_of(&p, true).noise;
	CHECK(noise.factor == 0 && noise.weight == 1);
	p.blocks = MOST; /* of which ten have samples */
	noise = whole_of(&p, true).noise;
	CHECK(noise.factor >= 1);
}

/* From tables of Student's t: the chance at 95 %, by way of two sessions and more. */
static void chances_are_students(void)
{
	static const double far[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(far); i++) {
		/* Half of the samples: the interval is that far from 0.5 but for Wilson's part. */
		const double n = 4e8, degrees = (double)i + 1;
		struct statistics_part half = { (uint64_t)n / 2, (uint64_t)n, { 1, 1, degrees } };
		struct statistics_part more = half;
		double low_end = (0.5 - statistics_share(half).low) * 2 * sqrt(n), chance;

		more.noise.degrees = half.noise.degrees = degrees / 2; /* of both together */
		more.count += (uint64_t)(far[i] * sqrt(n / 2));
		chance = statistics_shares_chance(half, more);
		if (!CHECK(fabs(low_end - far[i]) < 0.006 * far[i] && fabs(chance - 0.05) < 1e-3))
			printf("# %zu degrees: %f, %f\n", i + 1, low_end, chance);
	}
}

/* The example of Benjamini and Hochberg's paper: four of fifteen. */
static void many_comparisons_need_more(void)
{
	double paper[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
			   0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0 };
	double none[] = { 0.04, 0.03, 0.5, 1 };

	CHECK(statistics_certain(paper, ARRAY_SIZE(paper)) == 0.0095);
	CHECK(statistics_certain(none, ARRAY_SIZE(none)) < 0);
	CHECK(statistics_certain(none, 0) < 0);
}

TESTS(T(intervals_are_wilsons), T(intervals_hold_the_truth_as_often_as_they_say),
      T(shares_differ_where_the_test_says), T(counts_differ_where_the_test_says),
      T(weights_do_not_make_samples), T(lengths_of_blocks_are_no_noise), T(bursts_are_noise),
      T(blocks_hide_no_difference), T(equal_counts_differ_rarely), T(sessions_show_what_repeats),
      T(few_blocks_show_nothing), T(chances_are_students), T(many_comparisons_need_more))
