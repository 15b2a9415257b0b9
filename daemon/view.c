/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view.h"

#include "base/clock.h"
#include "base/mem.h"
#include "event/cpu_type.h"
#include "collect/collector.h"
#include "status.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct view_board {
	pthread_mutex_t lock; /* lends its waiter's priority to its holder */
	struct view shown;
};

void view_init(struct view *v)
{
	*v = (struct view){ .cpu_type = "",
			    .own_cpu_type = cpu_type_detect("", false)->key,
			    .cpu_count = (unsigned int)MAX(sysconf(_SC_NPROCESSORS_CONF), 1) };
	v->cpus = xcalloc(v->cpu_count, sizeof(*v->cpus));
}

void view_done(struct view *v)
{
	strbuf_done(&v->status);
	free(v->cpus);
	v->cpus = NULL;
}

void view_make(struct view *v, const struct status *status)
{
	const struct collector *c = status->collector;
	struct quota_reading quota;
	size_t count;
	const struct event *events = collector_events(c, &count);

	v->at_ns = clock_now_ns();
	v->running = collector_running(c);
	strbuf_clear(&v->status);
	status_answer(status, &v->status);
	collector_quota(c, &quota);
	v->other_bytes = quota.use.parser + quota.use.kernel;
	collector_stats(c, &v->driver, &v->record);
	v->cpu_type =
		event_clock_only(events, count) ? cpu_type_detect("", true)->key : v->own_cpu_type;
	for (unsigned int cpu = 0; cpu < v->cpu_count; cpu++)
		collector_cpu_stats(c, cpu, &v->cpus[cpu]);
}

static void copy(struct view *to, const struct view *from)
{
	struct strbuf status = to->status;
	struct driver_cpu_stats *cpus = to->cpus;

	memcpy(cpus, from->cpus, from->cpu_count * sizeof(*cpus));
	strbuf_clear(&status);
	strbuf_add(&status, strbuf_text(&from->status), from->status.length);
	*to = *from;
	to->status = status;
	to->cpus = cpus;
}

struct view_board *view_board_new(void)
{
	struct view_board *b = xcalloc(1, sizeof(*b));
	pthread_mutexattr_t attr;

	(void)pthread_mutexattr_init(&attr);
	(void)pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	(void)pthread_mutex_init(&b->lock, &attr);
	(void)pthread_mutexattr_destroy(&attr);
	view_init(&b->shown);
	return b;
}

void view_board_free(struct view_board *b)
{
	if (!b)
		return;
	(void)pthread_mutex_destroy(&b->lock);
	view_done(&b->shown);
	free(b);
}

void view_show(struct view_board *b, const struct view *v)
{
	(void)pthread_mutex_lock(&b->lock);
	copy(&b->shown, v);
	(void)pthread_mutex_unlock(&b->lock);
}

void view_look(struct view_board *b, struct view *v)
{
	(void)pthread_mutex_lock(&b->lock);
	if (b->shown.at_ns > v->at_ns)
		copy(v, &b->shown);
	(void)pthread_mutex_unlock(&b->lock);
}
