/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clocks as one number: nanoseconds, or milliseconds for timeouts.
 *
 *	uint64_t since_ns = clock_now_ns();
 *	...
 *	took_ns = clock_now_ns() - since_ns;
 */
#pragma once

#include <stdint.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

/* The time of @clock; 0 if there is no such clock. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	(void)clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* CLOCK_MONOTONIC, which is also the clock of perf's records. */
static inline uint64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The same in milliseconds; signed, for the arithmetic of timeouts. */
static inline int64_t clock_now_ms(void)
{
	return (int64_t)(clock_now_ns() / 1000000);
}
