/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a number of samples says and what it does not: sampling is counting by chance, so a share
 * has an interval, and two shares may differ by chance alone. The level is 95 % throughout. Samples
 * are taken to fall independently of each other; man opreport.1 says what that means.
 *
 *	struct statistics_interval i = statistics_share(25, 1000);	0.017 to 0.037
 *	if (statistics_shares_differ(25, 1000, 40, 1000))
 *		...
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct statistics_interval {
	double low, high; /* of 1 */
};

/* Wilson's score interval of the share of @count in @total. Nothing of nothing is 0 to 1: nothing
 * is known. */
struct statistics_interval statistics_share(uint64_t count, uint64_t total);

/* Whether the share of @a in @a_total and that of @b in @b_total differ by more than chance: the
 * two-proportion z-test with pooled variance and continuity correction. */
bool statistics_shares_differ(uint64_t a, uint64_t a_total, uint64_t b, uint64_t b_total);
/* Whether two counts differ by more than chance, if both are of equal stretches of work: the same
 * test of Poisson counts. */
bool statistics_counts_differ(uint64_t a, uint64_t b);
