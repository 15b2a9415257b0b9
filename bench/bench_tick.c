/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how long a sampling tick interrupts a program: calls itself to a known depth, reads the
 * clock all the time, and prints how many times it was interrupted for more than a microsecond, and
 * the median of these times. Other interrupts do not move the median while they are fewer than
 * half.
 *
 *	bench_tick SECONDS [HZ]
 *
 * With HZ, it also causes ticks of the clock of which nobody takes samples.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Longer than the last it was preempted, not interrupted. */
enum { DEPTH = 18, GAPS_MAX = 1 << 20, SHORTEST_NS = 1000, LONGEST_NS = 150000 };

static uint32_t gaps[GAPS_MAX];
static size_t gap_count;

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline)) void watch(uint64_t ns)
{
	uint64_t last = now_ns(), until = last + ns, at;

	for (; last < until; last = at) {
		at = now_ns();
		if (at - last > SHORTEST_NS && at - last < LONGEST_NS && gap_count < GAPS_MAX)
			gaps[gap_count++] = (uint32_t)(at - last);
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): the frames are what it is about */
static __attribute__((noinline)) unsigned int call(unsigned int depth, uint64_t ns)
{
	volatile unsigned int kept = depth;

	if (depth)
		kept += call(depth - 1, ns);
	else
		watch(ns);
	return kept;
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int tick(unsigned long hz)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = 1000000000 / hz,
					.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int main(int argc, char **argv)
{
	unsigned long hz = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (argc < 2 || (hz && tick(hz) < 0)) {
		(void)fprintf(stderr, "usage: bench_tick SECONDS [HZ]\n");
		return 2;
	}
	(void)call(DEPTH, (uint64_t)(strtod(argv[1], NULL) * 1e9));
	qsort(gaps, gap_count, sizeof(*gaps), compare);
	printf("%zu interrupts, median %.2f us, half of them from %.2f to %.2f\n", gap_count,
	       gap_count ? gaps[gap_count / 2] * 1e-3 : 0,
	       gap_count ? gaps[gap_count / 4] * 1e-3 : 0,
	       gap_count ? gaps[gap_count / 4 * 3] * 1e-3 : 0);
	return 0;
}
