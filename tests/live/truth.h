/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs with a known profile. The work is chains of multiplications, each of which waits for the
 * preceding one: no cache misses, no mispredicted branches, and no busy unit of the CPU. So the
 * time of a chain is proportional to its number of steps, on a quiet machine and on a busy one.
 * Parts of the work alternate every few milliseconds, so a longer disturbance (another load, a
 * change of frequency) affects all of them equally.
 *
 *	TRUTH_CHAIN(small)
 *	TRUTH_CHAIN(large)
 *	struct truth_part parts[] = {
 *		{ "prog", "small", small, 1 },
 *		{ "prog", "large", large, 99 },
 *	};
 *	truth_run(parts, 2, seconds);
 *
 * A program prints its expected profile: lines "share IMAGE SYMBOL WEIGHT", which truth_check.awk
 * compares with a report.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Defines a function of @steps multiplications in a row. The name in the assembler text keeps the
 * compiler from folding functions of the same code into one. */
#define TRUTH_CHAIN(name)                                                                          \
	uint64_t name(uint64_t steps);                                                             \
	__attribute__((noinline, aligned(64))) uint64_t name(uint64_t steps)                       \
	{                                                                                          \
		uint64_t x = steps;                                                                \
                                                                                                   \
		while (steps--) {                                                                  \
			x = x * 6364136223846793005 + 1442695040888963407;                         \
			__asm__ volatile("# " #name : "+r"(x));                                    \
		}                                                                                  \
		return x;                                                                          \
	}

/* Steps of one unit of weight: some 25 us. Rounds are long compared with the code between the
 * parts, and short compared with disturbances. */
enum { TRUTH_UNIT = 20000 };

struct truth_part {
	const char *image, *symbol;
	uint64_t (*run)(uint64_t steps);
	uint64_t weight;
};

static inline double truth_cpu_seconds(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* One round of all parts. */
static inline void truth_round(const struct truth_part *parts, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		(void)parts[i].run(parts[i].weight * TRUTH_UNIT);
}

static inline void truth_say(const struct truth_part *parts, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		printf("share %s %s %llu\n", parts[i].image, parts[i].symbol,
		       (unsigned long long)parts[i].weight);
	(void)fflush(stdout);
}

/* Whole rounds until this thread has used @seconds of CPU time. */
static inline void truth_rounds(const struct truth_part *parts, size_t count, double seconds)
{
	double end = truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		truth_round(parts, count);
}

/* Says what the profile must be and makes it so. */
static inline void truth_run(const struct truth_part *parts, size_t count, double seconds)
{
	truth_say(parts, count);
	truth_rounds(parts, count, seconds);
}
