/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/statistics.h"

#include "base/macro.h"

#include <math.h>

/* The normal distribution has 95 % within this many standard deviations. */
static const double deviations = 1.959963984540054;

/* Samples that were taken for the count. */
static double taken(uint64_t count, struct statistics_part part)
{
	return (double)count / part.weight;
}

struct statistics_interval statistics_share(struct statistics_part part)
{
	double n = taken(part.total, part), share, squared = deviations * deviations;
	double centre, spread, scale;

	if (part.total == 0)
		return (struct statistics_interval){ 0, 1 };
	share = taken(MIN(part.count, part.total), part) / n;
	scale = 1 + squared / n;
	centre = (share + squared / (2 * n)) / scale;
	spread = deviations / scale * sqrt(share * (1 - share) / n + squared / (4 * n * n));
	/* If nothing or everything was counted, the ends are exact except for rounding. */
	return (struct statistics_interval){ part.count == 0 ? 0 : MAX(centre - spread, 0.0),
					     part.count >= part.total ? 1
								      : MIN(centre + spread, 1.0) };
}

bool statistics_shares_differ(struct statistics_part a, struct statistics_part b)
{
	double n = taken(a.total, a), m = taken(b.total, b), pooled, difference, error;

	if (a.total == 0 || b.total == 0)
		return false;
	pooled = (taken(a.count, a) + taken(b.count, b)) / (n + m);
	difference = fabs(taken(a.count, a) / n - taken(b.count, b) / m) - (1 / n + 1 / m) / 2;
	error = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
	return difference > 0 && difference >= deviations * error;
}

bool statistics_counts_differ(struct statistics_part a, struct statistics_part b)
{
	double k = (double)a.count, l = (double)b.count;
	double difference = fabs(k - l) - (a.weight + b.weight) / 2;

	return difference > 0 && difference >= deviations * sqrt(k * a.weight + l * b.weight);
}
