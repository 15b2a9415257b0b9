/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/statistics.h"

#include "base/macro.h"

#include <math.h>

/* The normal distribution has 95 % within so many standard deviations. */
static const double deviations = 1.959963984540054;

struct statistics_interval statistics_share(uint64_t count, uint64_t total)
{
	double n = (double)total, share, squared = deviations * deviations;
	double centre, spread, scale;

	if (total == 0)
		return (struct statistics_interval){ 0, 1 };
	share = (double)MIN(count, total) / n;
	scale = 1 + squared / n;
	centre = (share + squared / (2 * n)) / scale;
	spread = deviations / scale * sqrt(share * (1 - share) / n + squared / (4 * n * n));
	/* The ends are exact where nothing or all was counted, but for rounding. */
	return (struct statistics_interval){ count == 0 ? 0 : MAX(centre - spread, 0.0),
					     count >= total ? 1 : MIN(centre + spread, 1.0) };
}

bool statistics_shares_differ(uint64_t a, uint64_t a_total, uint64_t b, uint64_t b_total)
{
	double n = (double)a_total, m = (double)b_total, pooled, difference, error;

	if (a_total == 0 || b_total == 0)
		return false;
	pooled = ((double)a + (double)b) / (n + m);
	difference = fabs((double)a / n - (double)b / m) - (1 / n + 1 / m) / 2;
	error = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
	return difference > 0 && difference >= deviations * error;
}

bool statistics_counts_differ(uint64_t a, uint64_t b)
{
	double difference = fabs((double)a - (double)b) - 1;

	return difference > 0 && difference >= deviations * sqrt((double)a + (double)b);
}
