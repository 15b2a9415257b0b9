/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures how long requests to a daemon take: bench_control SESSION [REQUEST...]. Sends each
 * request 5000 times, a millisecond after the last answer, each on a connection of its own. Prints
 * median, 99.9th percentile and maximum of the time to the complete answer, the share within the
 * aim, and the CPU time of the client. */
#include "base/mem.h"
#include "base/strbuf.h"
#include "control/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMES = 5000, AIM_MS = 5, PAUSE_NS = 1000000 };

static double now_ms(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int measure(const char *session, const char *request)
{
	double took[TIMES], cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
	struct error err = ERROR_INIT;
	size_t i, bytes = 0, within = 0;

	for (i = 0; i < TIMES; i++) {
		_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;

		took[i] = now_ms(CLOCK_MONOTONIC);
		if (control_call(session, request, &answer, &err) < 0) {
			(void)fprintf(stderr, "%s: %s\n", request, err.text);
			return 1;
		}
		took[i] = now_ms(CLOCK_MONOTONIC) - took[i];
		within += took[i] <= AIM_MS;
		bytes = answer.length;
		(void)nanosleep(&(const struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
	cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	qsort(took, TIMES, sizeof(*took), by_value);
	printf("%-28s %6zu bytes: median %.3f ms, 99.9 %% below %.3f, most %.3f; %.2f %% within %d "
	       "ms; asker %.3f ms CPU\n",
	       request, bytes, took[TIMES / 2], took[TIMES * 999 / 1000], took[TIMES - 1],
	       (double)within * 100 / TIMES, AIM_MS, cpu / TIMES);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const usual[] = { "read enable", "read stats/sample_received",
					     "list stats", "status" };
	int i, failed = 0;

	if (argc < 2)
		return 2;
	for (i = 2; i < argc; i++)
		failed |= measure(argv[1], argv[i]);
	for (i = 0; argc == 2 && i < (int)ARRAY_SIZE(usual); i++)
		failed |= measure(argv[1], usual[i]);
	return failed;
}
