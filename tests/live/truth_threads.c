/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_threads ROUNDS: four threads, each of which runs its function for a fixed number of steps:
 * 10, 20, 30 and 40 of 100. */
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

static unsigned long rounds;

static void *run(void *data)
{
	const struct truth_part *part = data;
	unsigned long i;

	for (i = 0; i < rounds; i++)
		(void)part->run(part->weight * TRUTH_UNIT);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	size_t i;

	if (argc != 2)
		return 2;
	rounds = strtoul(argv[1], NULL, 10);
	truth_say(parts, THREADS);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)&parts[i]))
			return 1;
	for (i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	return 0;
}
