/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confidence intervals and tests. Sampling is random, so a share is known up to an interval, and
 * two shares may differ by chance alone. The level is 95 % throughout. Samples are assumed to be
 * independent; man opreport.1 explains what that means.
 *
 *	struct statistics_part a = { 25, 1000, 1 }, b = { 40, 1000, 1 };
 *	struct statistics_interval i = statistics_share(a);	0.017 to 0.037
 *	if (statistics_shares_differ(a, b))
 *		...
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A part of the samples of a profile. With a budget each sample taken counts as @weight samples on
 * average (at least 1), but it is one random event. So the variance of a count is the sum of the
 * squares of the weights: @weight times the count, if all weights are equal. */
struct statistics_part {
	uint64_t count, total;
	double weight;
};

struct statistics_interval {
	double low, high; /* of 1 */
};

/* Wilson's score interval of the share. Of no samples it is 0 to 1. */
struct statistics_interval statistics_share(struct statistics_part part);

/* Whether two shares differ by more than chance: the two-proportion z-test with pooled variance and
 * continuity correction. */
bool statistics_shares_differ(struct statistics_part a, struct statistics_part b);
/* Whether two counts differ by more than chance, if both profiles did the same amount of work:
 * the same test for Poisson counts. */
bool statistics_counts_differ(struct statistics_part a, struct statistics_part b);
