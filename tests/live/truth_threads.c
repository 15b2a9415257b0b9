/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_threads MILLISECONDS: four threads share so much CPU time: 10, 20, 30 and 40 of 100. Time,
 * not steps: threads do not run at the same moments, and a CPU may be slower at one than at
 * another. */
#include "truth.h"

#include <pthread.h>

TRUTH_CHAIN(thread_a)
TRUTH_CHAIN(thread_b)
TRUTH_CHAIN(thread_c)
TRUTH_CHAIN(thread_d)

static const struct truth_part parts[] = {
	{ "truth_threads", "thread_a", thread_a, 10 },
	{ "truth_threads", "thread_b", thread_b, 20 },
	{ "truth_threads", "thread_c", thread_c, 30 },
	{ "truth_threads", "thread_d", thread_d, 40 },
};

enum { THREADS = sizeof(parts) / sizeof(parts[0]) };

static double seconds;

static void *run(void *data)
{
	const struct truth_part *part = data;
	double end = seconds * (double)part->weight / 100;

	while (truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		(void)part->run(10 * (uint64_t)TRUTH_UNIT);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	size_t i;

	if (argc != 2)
		return 2;
	seconds = strtod(argv[1], NULL) / 1e3;
	truth_say(parts, THREADS);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)&parts[i]))
			return 1;
	for (i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	return 0;
}
