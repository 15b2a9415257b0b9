/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "offcpu_nap TIMES MS [FILE]": sleeps TIMES times, for MS milliseconds in doze() below rest(), and
 * for three times as long in doze() below work(); first waits until FILE exists. Prints "FUNCTION
 * ASKED PASSED" for both: the microseconds requested, and those that passed until it continued. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline, noclone, noipa))
#ifdef __clang__
#undef FUNCTION
#define FUNCTION __attribute__((noinline, optnone))
#endif

static int64_t now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

FUNCTION static int64_t doze(int64_t us)
{
	const struct timespec nap = { us / 1000000, us % 1000000 * 1000 };
	int64_t before = now_us();

	if (nanosleep(&nap, NULL) < 0)
		exit(1);
	return now_us() - before;
}

FUNCTION static int64_t rest(int64_t us)
{
	int64_t passed = doze(us);

	__asm__ volatile("" ::: "memory");
	return passed;
}

FUNCTION static int64_t work(int64_t us)
{
	int64_t passed = doze(us);

	__asm__ volatile("" ::: "memory");
	return passed;
}

int main(int argc, char **argv)
{
	int64_t times = argc > 2 ? atoi(argv[1]) : 0, us = argc > 2 ? atoi(argv[2]) * 1000 : 0;
	int64_t rested = 0, worked = 0, n = 0;

	while (times > 0) {
		rested += rest(us);
		worked += work(3 * us);
		n++;
		if (argc <= 3 || access(argv[3], F_OK) == 0)
			times--;
	}
	printf("rest %lld %lld\n", (long long)(n * us), (long long)rested);
	printf("work %lld %lld\n", (long long)(3 * n * us), (long long)worked);
	return 0;
}
