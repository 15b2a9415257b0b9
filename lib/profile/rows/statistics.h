/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a number of samples says and what it does not: sampling is counting by chance, so a share
 * has an interval, and two shares may differ by chance alone. The level is 95 % throughout. Samples
 * are taken to fall independently of each other; man opreport.1 says what that means.
 *
 *	struct statistics_part a = { 25, 1000, 1 }, b = { 40, 1000, 1 };
 *	struct statistics_interval i = statistics_share(a);	0.017 to 0.037
 *	if (statistics_shares_differ(a, b))
 *		...
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* So many of all samples of a profile. Each stands for @weight on average, at least 1, and is
 * counted as often: it is one throw of the dice all the same, so that the variance of a count is
 * not the count, but the sum of the squares of the weights, @weight times the count where all are
 * alike. */
struct statistics_part {
	uint64_t count, total;
	double weight;
};

struct statistics_interval {
	double low, high; /* of 1 */
};

/* Wilson's score interval of the share. Nothing of nothing is 0 to 1: nothing is known. */
struct statistics_interval statistics_share(struct statistics_part part);

/* Whether two shares differ by more than chance: the two-proportion z-test with pooled variance and
 * continuity correction. */
bool statistics_shares_differ(struct statistics_part a, struct statistics_part b);
/* Whether two counts differ by more than chance, if both are of equal stretches of work: the same
 * test of Poisson counts. */
bool statistics_counts_differ(struct statistics_part a, struct statistics_part b);
