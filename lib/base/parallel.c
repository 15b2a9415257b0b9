/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/parallel.h"

#include "base/macro.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

static bool is_forbidden;

/* Shared by the threads of a parallel_each(). */
struct job {
	size_t next, count;
	void (*work)(size_t i, unsigned int thread, void *data);
	void *data;
};

struct worker {
	struct job *job;
	unsigned int number;
	pthread_t thread;
};

unsigned int parallel_threads(void)
{
	cpu_set_t cpus;
	int n = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;

	n = MIN(n, (int)PARALLEL_MAX);
	return n > 0 && !is_forbidden ? (unsigned int)n : 1;
}

void parallel_forbid(void)
{
	is_forbidden = true;
}

static void *run(void *data)
{
	struct worker *w = data;
	struct job *job = w->job;
	size_t i;

	while ((i = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED)) < job->count)
		job->work(i, w->number, job->data);
	return NULL;
}

void parallel_each(size_t count, void (*work)(size_t i, unsigned int thread, void *data),
		   void *data)
{
	struct job job = { .count = count, .work = work, .data = data };
	struct worker workers[PARALLEL_MAX];
	unsigned int wanted = count > 1 ? (unsigned int)MIN(count, (size_t)parallel_threads()) : 1;
	unsigned int n, i;

	for (n = 1; n < wanted; n++) {
		workers[n] = (struct worker){ .job = &job, .number = n };
		if (pthread_create(&workers[n].thread, NULL, run, &workers[n]) != 0)
			break;
	}
	workers[0] = (struct worker){ .job = &job };
	(void)run(&workers[0]);
	for (i = 1; i < n; i++)
		(void)pthread_join(workers[i].thread, NULL);
}
