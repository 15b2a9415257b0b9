/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_step HZ SECONDS: works HZ times a second, by the clock: in working() for the first 3 of 10
 * parts of each cycle, and then in waiting(). Prints how many percent of its CPU time it was in
 * working(). */
#include "truth.h"

static double now(clockid_t clock)
{
	return truth_cpu_seconds(clock);
}

TRUTH_CHAIN(working)
TRUTH_CHAIN(waiting)

/* Runs @part until the time of day, and returns the CPU time that it took. */
static double run_until(uint64_t (*part)(uint64_t steps), double until)
{
	enum { STEPS = 2000 }; /* some microseconds */
	double before = now(CLOCK_THREAD_CPUTIME_ID);

	while (now(CLOCK_MONOTONIC) < until)
		(void)part(STEPS);
	return now(CLOCK_THREAD_CPUTIME_ID) - before;
}

int main(int argc, char **argv)
{
	double cycle = 1 / strtod(argc > 1 ? argv[1] : "1000", NULL), work = 0, wait = 0;
	double begin = now(CLOCK_MONOTONIC), end = begin + strtod(argc > 2 ? argv[2] : "2", NULL);

	while (now(CLOCK_MONOTONIC) < end) {
		/* Cycles that were missed are skipped: the next one is in step again. */
		double at =
			begin + (double)(uint64_t)((now(CLOCK_MONOTONIC) - begin) / cycle) * cycle;

		work += run_until(working, at + 0.3 * cycle);
		wait += run_until(waiting, at + cycle);
	}
	printf("%.1f\n", 100 * work / (work + wait));
	return 0;
}
