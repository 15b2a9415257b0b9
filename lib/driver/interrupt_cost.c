/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/interrupt_cost.h"

#include "base/clock.h"
#include "base/mem.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PERIOD_NS = 100000,
	RUN_NS = 10000000,	 /* of this thread's CPU time, to measure */
	PATIENCE_NS = 500000000, /* wall-clock limit */
	GAPS_MAX = 4096,
	GUESS_NS = 2000,
	/* Reading the clock takes some 30 ns, and an interrupt always longer than this. */
	SHORTEST_NS = 400
};

static int open_clock(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = PERIOD_NS,
					.sample_type = PERF_SAMPLE_IP,
					.exclude_kernel = 1,
					.exclude_hv = 1,
					.disabled = 1 };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Records gaps in a loop until this thread's CPU time reaches @until_ns. Returns their number. */
static size_t watch_gaps(double gaps[GAPS_MAX], uint64_t until_ns)
{
	uint64_t start = clock_now_ns(), last = start, now;
	size_t n = 0;

	while (n < GAPS_MAX && last - start < PATIENCE_NS) {
		now = clock_now_ns();
		if (now - last > SHORTEST_NS) {
			gaps[n++] = (double)(now - last);
			if (clock_ns(CLOCK_THREAD_CPUTIME_ID) >= until_ns)
				break;
			now = clock_now_ns();
		}
		last = now;
	}
	return n;
}

/* Orders the longest first. */
static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

double interrupt_cost_ns(void)
{
	_cleanup_close_ int fd = open_clock();
	_cleanup_free_ double *gaps = xcalloc(GAPS_MAX, sizeof(*gaps));
	uint64_t since_ns;
	size_t n, ticks;

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return GUESS_NS;
	since_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	n = watch_gaps(gaps, since_ns + RUN_NS);
	/* The number of ticks in our CPU time: the longest gaps are theirs, as other delays are
	 * shorter or rarer. */
	ticks = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - since_ns) / PERIOD_NS;
	if (ticks < 5 || n < ticks / 2)
		return GUESS_NS;
	qsort(gaps, n, sizeof(*gaps), compare);
	return gaps[MIN(ticks, n) / 2];
}
