/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "offcpu_nap TIMES MS": sleeps so often and so long, and prints how many microseconds it asked for
 * and how many passed until it went on. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	int times = argc > 2 ? atoi(argv[1]) : 0, ms = argc > 2 ? atoi(argv[2]) : 0, i;
	const struct timespec nap = { ms / 1000, ms % 1000 * 1000000L };
	int64_t passed = 0, before;

	for (i = 0; i < times; i++) {
		before = now_us();
		if (nanosleep(&nap, NULL) < 0)
			return 1;
		passed += now_us() - before;
	}
	printf("%lld %lld\n", (long long)times * ms * 1000, (long long)passed);
	return 0;
}
