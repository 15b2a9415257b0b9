/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confidence intervals and tests. Sampling is random, so a share is known up to an interval, and
 * two shares may differ by chance alone. The level is 95 % throughout. How far chance goes is
 * measured where there are blocks: counts of parts of the time, or of sessions that repeat each
 * other. Without them samples are assumed to be independent; man opreport.1 explains what that
 * means.
 *
 *	struct statistics_part a = { 25, 1000, { 1 } }, b = { 40, 1000, { 1 } };
 *	struct statistics_interval i = statistics_share(a);	0.017 to 0.037
 *	if (statistics_shares_chance(a, b) <= STATISTICS_LEVEL)
 *		...they differ
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What chance makes in fewer cases is no chance. */
#define STATISTICS_LEVEL 0.05

/* How much counts vary. If all samples are independent, ->weight is the number of samples that each
 * one taken represents: with a budget that can be more than 1, but it is one random event. So is a
 * wait, whose microseconds are the samples: a sum of waits varies by the sum of their squares, and
 * those of any part of the waits are at most ->squares. */
struct statistics_noise {
	double weight;	/* the variance of a count is so many times the count */
	double factor;	/* by so much ->weight is more than if samples were independent; 0: that
			 * is not known, and is 1 */
	double degrees; /* of freedom that ->factor was measured with; HUGE_VAL: it is certain */
	double squares; /* of all waits; HUGE_VAL: not known, it may be one wait; 0: no waits */
};

/* A part of the samples of a profile. */
struct statistics_part {
	uint64_t count, total;
	struct statistics_noise noise;
};

struct statistics_interval {
	double low, high; /* of 1 */
};

/* The counts of a part in blocks, one after the other; blocks without samples do not count. */
struct statistics_blocks {
	const uint64_t *counts, *totals;
	size_t count;
	bool are_sessions; /* they repeat each other; else they are parts of the time */
	/* How much of each was recorded, in any unit, which counts are compared with; NULL: all of
	 * all that have samples. */
	const uint64_t *lengths;
};

/* The fewest parts of the time that show how much counts vary. */
enum { STATISTICS_BLOCKS_LEAST = 8 };

/* The number of blocks that shares are measured between, else counts: those that count; 0 if they
 * are too few. */
size_t statistics_measured_blocks(const struct statistics_blocks *blocks, bool of_share);
/* The noise of the share that a part has, whose samples have the weight and the squares of @alone;
 * as if samples were independent, if there are too few blocks, and never less than that. Parts of
 * the time that follow each other may be alike; only slow changes are taken for noise, which any
 * such likeness is part of. */
struct statistics_noise statistics_share_noise(const struct statistics_blocks *blocks,
					       struct statistics_noise alone);
/* The same of the count. */
struct statistics_noise statistics_count_noise(const struct statistics_blocks *blocks,
					       struct statistics_noise alone);

/* Wilson's score interval of the share. Of no samples it is 0 to 1. */
struct statistics_interval statistics_share(struct statistics_part part);

/* In how many of 1 cases chance alone makes two shares differ so much or more: the two-proportion
 * test with pooled variance and continuity correction. */
double statistics_shares_chance(struct statistics_part a, struct statistics_part b);
/* The same of two counts, if both profiles did the same amount of work: the test for Poisson
 * counts. */
double statistics_counts_chance(struct statistics_part a, struct statistics_part b);

/* The largest of the @count chances that is certain enough although so many comparisons were made:
 * no more than 5 % of those up to it are chance (Benjamini and Hochberg 1995). Negative if none is;
 * sorts @chances. */
double statistics_certain(double *chances, size_t count);
