/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/statistics.h"

#include "base/macro.h"

#include <math.h>
#include <stdlib.h>

/* --- distributions --- */

/* The normal distribution has 95 % within this many standard deviations. */
static const double deviations = 1.959963984540054;

/* The same of Student's t distribution: closed forms, and the first terms of the expansion by 1 /
 * @degrees (Abramowitz and Stegun 26.7.5), which is right to three digits from 3 on. */
static double deviations_of(double degrees)
{
	const double z = deviations, d = degrees, x = z * z;

	if (d < 1.5)
		return tan(M_PI * 0.475);
	if (d < 2.5)
		return 0.95 / sqrt(2 * 0.975 * 0.025);
	if (isinf(d))
		return z;
	return z * (1 + (x + 1) / (4 * d) + ((5 * x + 16) * x + 3) / (96 * d * d) +
		    (((3 * x + 19) * x + 17) * x - 15) / (384 * d * d * d) +
		    ((((79 * x + 776) * x + 1482) * x - 1920) * x - 945) / (92160 * d * d * d * d));
}

/* The continued fraction of the incomplete beta function (Lentz's algorithm). */
static double beta_fraction(double a, double b, double x)
{
	enum { STEPS = 200 };
	const double tiny = 1e-300;
	double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), result = d;
	int i;

	for (i = 1; i < STEPS; i++) {
		double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
		double change;

		d = 1 / (fabs(1 + even * d) < tiny ? tiny : 1 + even * d);
		c = fabs(1 + even / c) < tiny ? tiny : 1 + even / c;
		result *= d * c;
		d = 1 / (fabs(1 + odd * d) < tiny ? tiny : 1 + odd * d);
		c = fabs(1 + odd / c) < tiny ? tiny : 1 + odd / c;
		change = d * c;
		result *= change;
		if (fabs(change - 1) < 1e-12)
			break;
	}
	return result;
}

/* The regularised incomplete beta function. */
static double beta_part(double a, double b, double x)
{
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* How often chance goes @far standard deviations or more, if these were measured with so many
 * degrees of freedom. */
static double chance_of(double far, double degrees)
{
	if (far <= 0)
		return 1;
	if (degrees > 1000)
		return erfc(far / sqrt(2));
	return beta_part(degrees / 2, 0.5, degrees / (degrees + far * far));
}

/* --- noise --- */

/* Sums of squares of what blocks differ by from what they would have: in the slowest changes
 * (cosines), whose number is that of degrees of freedom. Lazarus, Lewis, Stock and Watson 2018,
 * "HAR inference". */
enum { WAVES_MAX = 8 };

struct deviation {
	size_t blocks; /* so far */
	size_t waves;
	double sums[WAVES_MAX], square;
};

static size_t waves_of(size_t blocks)
{
	enum { BLOCKS_A_WAVE = 8, LEAST = 4 };

	size_t waves = MAX(blocks / BLOCKS_A_WAVE, (size_t)LEAST);

	return MIN(waves, (size_t)WAVES_MAX);
}

static void add_deviation(struct deviation *d, double value, size_t all)
{
	double at = ((double)d->blocks++ + 0.5) / (double)all;
	size_t i;

	d->square += value * value;
	for (i = 0; i < d->waves; i++)
		d->sums[i] += value * cos(M_PI * (double)(i + 1) * at);
}

/* The variance of the sum of all blocks. */
static double variance(const struct deviation *d, bool are_sessions)
{
	double sum = 0;
	size_t i;

	if (are_sessions)
		return d->square * (double)d->blocks / (double)(d->blocks - 1);
	for (i = 0; i < d->waves; i++)
		sum += 2 * d->sums[i] * d->sums[i];
	return sum / (double)d->waves;
}

/* What a block's part of the count is expected to be in proportion to: its samples or its length;
 * 0: the block does not count. */
static double base_of(const struct statistics_blocks *b, size_t i, bool of_share)
{
	if (of_share)
		return (double)b->totals[i];
	return b->lengths ? (double)b->lengths[i] : b->totals[i] > 0;
}

struct sums {
	double count, base, total;
	size_t blocks; /* that count */
};

static struct sums sums_of(const struct statistics_blocks *b, bool of_share)
{
	struct sums s = { 0 };
	size_t i;

	for (i = 0; i < b->count; i++) {
		if (base_of(b, i, of_share) <= 0)
			continue;
		s.count += (double)b->counts[i];
		s.total += (double)b->totals[i];
		s.base += base_of(b, i, of_share);
		s.blocks++;
	}
	return s;
}

/* The noise of a sum of blocks whose variance is @factor times the one of independent samples. */
static struct statistics_noise noise_of(const struct deviation *d, bool are_sessions, double factor,
					double weight)
{
	double degrees = are_sessions ? (double)(d->blocks - 1) : (double)d->waves;

	if (factor <= weight)
		return (struct statistics_noise){ weight, 1, HUGE_VAL };
	return (struct statistics_noise){ factor, factor / weight, degrees };
}

/* What each sample weighs if it is one of waits with the average of these squares. */
static double average_weight(struct statistics_noise alone, double total)
{
	double average = MIN(alone.squares / total, total);

	return alone.squares > 0 ? MAX(average, 1.0) : alone.weight;
}

static bool are_enough(const struct statistics_blocks *b, size_t count)
{
	return count >= (b->are_sessions ? 2 : STATISTICS_BLOCKS_LEAST);
}

static struct statistics_noise measure(const struct statistics_blocks *b,
				       struct statistics_noise noise, bool of_share)
{
	struct sums s = sums_of(b, of_share);
	struct deviation d = { .waves = waves_of(s.blocks) };
	double share = s.total > 0 ? s.count / s.total : 0;
	double alone = of_share ? s.count * (1 - share) : s.count;
	size_t i;

	noise.factor = noise.degrees = 0;
	if (!are_enough(b, s.blocks))
		return noise;
	for (i = 0; i < b->count; i++) {
		double base = base_of(b, i, of_share);

		if (base > 0)
			add_deviation(&d, (double)b->counts[i] - s.count * base / s.base, s.blocks);
	}
	return noise_of(&d, b->are_sessions, alone > 0 ? variance(&d, b->are_sessions) / alone : 0,
			average_weight(noise, s.total));
}

size_t statistics_measured_blocks(const struct statistics_blocks *blocks, bool of_share)
{
	size_t i, count = 0;

	for (i = 0; i < blocks->count; i++)
		count += base_of(blocks, i, of_share) > 0;
	return are_enough(blocks, count) ? count : 0;
}

struct statistics_noise statistics_share_noise(const struct statistics_blocks *blocks,
					       struct statistics_noise alone)
{
	return measure(blocks, alone, true);
}

struct statistics_noise statistics_count_noise(const struct statistics_blocks *blocks,
					       struct statistics_noise alone)
{
	return measure(blocks, alone, false);
}

/* What each sample of the part weighs. Not measured, the squares of its waits are at most those of
 * all waits; so are those of the rest, which the share varies by as well. No wait is longer than
 * the root of the squares, nor than all waits together. */
static double weight_of(const struct statistics_part *p, bool of_share)
{
	double total = (double)p->total, count = (double)p->count, longest, weight;

	if (p->noise.squares <= 0 || p->noise.factor > 0)
		return p->noise.weight;
	if (of_share)
		count = MIN(count, total - count);
	longest = MIN(sqrt(p->noise.squares), total);
	weight = longest > count ? longest : longest * longest / count;
	return MAX(weight, 1.0);
}

/* What two parts vary by, if they vary alike. */
struct both {
	double a, b; /* weights */
	double degrees;
};

/* A part with few samples shows little of how much they vary, so each has a say by its count. */
static struct both pool(struct statistics_part a, struct statistics_part b, bool of_share)
{
	double says[2] = { a.noise.factor * (double)a.count, b.noise.factor * (double)b.count };
	double count = (a.noise.factor > 0 ? (double)a.count : 0) +
		       (b.noise.factor > 0 ? (double)b.count : 0);
	double sum = says[0] + says[1], squares = 0, factor = count > 0 ? sum / count : 1;
	double alone[2] = { weight_of(&a, of_share) / (a.noise.factor > 0 ? a.noise.factor : 1),
			    weight_of(&b, of_share) / (b.noise.factor > 0 ? b.noise.factor : 1) };

	if (says[0] > 0)
		squares += says[0] * says[0] / a.noise.degrees;
	if (says[1] > 0)
		squares += says[1] * says[1] / b.noise.degrees;
	return (struct both){ alone[0] * factor, alone[1] * factor,
			      squares > 0 ? sum * sum / squares : HUGE_VAL };
}

/* --- intervals and tests --- */

struct statistics_interval statistics_share(struct statistics_part part)
{
	double far = part.noise.factor > 0 ? deviations_of(part.noise.degrees) : deviations;
	double n = (double)part.total / weight_of(&part, true), share, squared = far * far;
	double centre, spread, scale;

	if (part.total == 0)
		return (struct statistics_interval){ 0, 1 };
	share = (double)MIN(part.count, part.total) / (double)part.total;
	scale = 1 + squared / n;
	centre = (share + squared / (2 * n)) / scale;
	spread = far / scale * sqrt(share * (1 - share) / n + squared / (4 * n * n));
	/* If nothing or everything was counted, the ends are exact except for rounding. */
	return (struct statistics_interval){ part.count == 0 ? 0 : MAX(centre - spread, 0.0),
					     part.count >= part.total ? 1
								      : MIN(centre + spread, 1.0) };
}

double statistics_shares_chance(struct statistics_part a, struct statistics_part b)
{
	struct both w = pool(a, b, true);
	double n = (double)a.total / w.a, m = (double)b.total / w.b, k = (double)a.count / w.a,
	       l = (double)b.count / w.b, pooled, difference, error;

	if (a.total == 0 || b.total == 0)
		return 1;
	pooled = (k + l) / (n + m);
	difference = fabs(k / n - l / m) - (1 / n + 1 / m) / 2;
	error = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
	return difference > 0 ? chance_of(difference / error, w.degrees) : 1;
}

double statistics_counts_chance(struct statistics_part a, struct statistics_part b)
{
	struct both w = pool(a, b, false);
	double k = (double)a.count, l = (double)b.count;
	double difference = fabs(k - l) - (w.a + w.b) / 2;

	return difference > 0 ? chance_of(difference / sqrt(k * w.a + l * w.b), w.degrees) : 1;
}

/* --- many comparisons --- */

static int compare_chances(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

double statistics_certain(double *chances, size_t count)
{
	size_t i;

	if (count == 0)
		return -1;
	qsort(chances, count, sizeof(*chances), compare_chances);
	for (i = count; i > 0; i--)
		if (chances[i - 1] <= STATISTICS_LEVEL * (double)i / (double)count)
			return chances[i - 1];
	return -1;
}
