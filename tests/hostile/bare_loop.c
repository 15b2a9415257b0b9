/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How late a loop that does nothing gets a CPU: bare_loop SECONDS. It has the real-time priority of
 * the daemon's thread, wakes every 10 ms, and prints the longest delay in ms. Nothing that drains
 * samples can be sooner on this machine. */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const int64_t every_ns = 10000000, ns_per_s = 1000000000;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * ns_per_s + t.tv_nsec;
}

int main(int argc, char **argv)
{
	const struct sched_param parameters = { .sched_priority = 1 };
	int64_t begin = now_ns(), at = begin, late, most = 0;

	if (argc != 2 || sched_setscheduler(0, SCHED_RR, &parameters) < 0)
		return 1;
	while (at - begin < atoi(argv[1]) * ns_per_s) {
		struct timespec until;

		at += every_ns;
		until = (struct timespec){ at / ns_per_s, at % ns_per_s };
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		late = now_ns() - at;
		most = late > most ? late : most;
		at = late > every_ns ? now_ns() : at;
	}
	printf("%.1f\n", (double)most / 1e6);
	return 0;
}
