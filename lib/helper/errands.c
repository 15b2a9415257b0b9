/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/errands.h"

#include "base/clock.h"
#include "base/mem.h"
#include "helper/niceness.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* First in, first out. */
struct queue {
	struct errand *first, **end;
	size_t count;
};

struct errands {
	pthread_t thread;
	int wake;	      /* eventfd for the thread: there is work, or it is to end */
	pthread_mutex_t lock; /* over all that follows */
	pthread_cond_t has_finished;
	struct queue waiting, done;
	uint64_t added, finished;
	bool ends, is_left; /* the latter: the thread frees all */
	enum errands_kind kind;
	int nice; /* of the thread that started it */
};

static void put(struct queue *q, struct errand *e)
{
	e->next = NULL;
	if (!q->first)
		q->end = &q->first;
	*q->end = e;
	q->end = &e->next;
	q->count++;
}

static struct errand *take(struct queue *q)
{
	struct errand *e = q->first;

	if (e) {
		q->first = e->next;
		q->count--;
	}
	return e;
}

/* Gives up the capabilities of this thread that errands of @kind do not need. Without
 * CAP_SYS_PTRACE, as in a container, a thread may only look at processes that have no more
 * capabilities than it has: then it keeps them to read /proc. */
static void renounce(enum errands_kind kind)
{
	static const uint64_t files = 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_DAC_READ_SEARCH;
	const uint64_t kept[] = { [ERRANDS_OUTSIDE] = 0,
				  [ERRANDS_FILES] = files,
				  [ERRANDS_SOON] = 0,
				  [ERRANDS_FILES_SOON] = files,
				  [ERRANDS_KERNEL] = files | 1ULL << CAP_SYSLOG,
				  [ERRANDS_PROCESSES] = 1ULL << CAP_SYS_PTRACE };
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct now[2] = { 0 }, then[2] = { 0 };

	(void)syscall(SYS_capget, &head, now);
	if (kind == ERRANDS_PROCESSES && !(now[0].effective & CAP_TO_MASK(CAP_SYS_PTRACE)))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(then); i++) {
		uint32_t mask = (uint32_t)(kept[kind] >> 32 * i);

		then[i].permitted = now[i].permitted & mask;
		then[i].effective = now[i].effective & mask;
	}
	(void)syscall(SYS_capset, &head, then);
}

static void destroy(struct errands *s)
{
	struct errand *e;

	while ((e = take(&s->waiting)) || (e = take(&s->done)))
		e->drop(e);
	cleanup_closep(&s->wake);
	(void)pthread_cond_destroy(&s->has_finished);
	(void)pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Waits for work in poll(): it would count as a lock in a profile of time off the CPU if this were
 * a condition variable. */
static void wait_for_work(const struct errands *s)
{
	struct pollfd p = { .fd = s->wake, .events = POLLIN };
	eventfd_t count;

	(void)poll(&p, 1, -1);
	(void)eventfd_read(s->wake, &count); /* waits where poll() is refused */
}

/* Sets the priority of this thread. A real-time thread does not pass its own on. */
static void prefer(const struct errands *s)
{
	if ((s->kind == ERRANDS_SOON || s->kind == ERRANDS_FILES_SOON) && s->nice <= 0)
		(void)niceness_set(NICENESS_SOON);
	else if (s->kind != ERRANDS_PROCESSES)
		niceness_reset();
	else if (s->nice < 0)
		(void)niceness_set(s->nice);
}

static void *serve(void *data)
{
	struct errands *s = data;
	struct errand *e;
	bool is_left;

	prefer(s);
	renounce(s->kind);
	(void)pthread_mutex_lock(&s->lock);
	while (!s->ends) {
		e = take(&s->waiting);
		if (!e) {
			(void)pthread_mutex_unlock(&s->lock);
			wait_for_work(s);
			(void)pthread_mutex_lock(&s->lock);
			continue;
		}
		(void)pthread_mutex_unlock(&s->lock);
		e->run(e);
		(void)pthread_mutex_lock(&s->lock);
		put(&s->done, e);
		s->finished++;
		(void)pthread_cond_broadcast(&s->has_finished);
	}
	is_left = s->is_left;
	(void)pthread_mutex_unlock(&s->lock);
	if (is_left)
		destroy(s);
	return NULL;
}

static void init_lock(struct errands *s)
{
	pthread_mutexattr_t inherit;
	pthread_condattr_t clock;

	/* The owner may have real-time priority, which a thread that holds the lock must get, too:
	 * else the owner waits for a CPU with it. */
	(void)pthread_mutexattr_init(&inherit);
	(void)pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
	(void)pthread_mutex_init(&s->lock, &inherit);
	(void)pthread_mutexattr_destroy(&inherit);
	(void)pthread_condattr_init(&clock);
	(void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&s->has_finished, &clock);
	(void)pthread_condattr_destroy(&clock);
}

int errands_new(enum errands_kind kind, struct errands **ret, struct error *err)
{
	struct errands *s = xcalloc(1, sizeof(*s));
	sigset_t all, before;
	int r;

	s->kind = kind;
	s->nice = getpriority(PRIO_PROCESS, 0);
	init_lock(s);
	s->wake = eventfd(0, EFD_CLOEXEC);
	if (s->wake < 0) {
		r = -errno;
		destroy(s);
		return error_errno(err, r, "cannot create an eventfd");
	}
	/* Another thread waits for signals; SIGSYS reports a refused system call. */
	(void)sigfillset(&all);
	(void)sigdelset(&all, SIGSYS);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&s->thread, NULL, serve, s);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r) {
		destroy(s);
		return error_errno(err, -r, "cannot start a thread");
	}
	*ret = s;
	return 0;
}

void errands_end(struct errands *s)
{
	(void)pthread_mutex_lock(&s->lock);
	s->ends = true;
	(void)eventfd_write(s->wake, 1);
	(void)pthread_mutex_unlock(&s->lock);
}

void errands_free(struct errands *s)
{
	if (!s)
		return;
	errands_end(s);
	(void)pthread_join(s->thread, NULL);
	destroy(s);
}

void errands_leave(struct errands *s)
{
	if (!s)
		return;
	(void)pthread_mutex_lock(&s->lock);
	s->ends = s->is_left = true;
	(void)pthread_detach(s->thread);
	(void)eventfd_write(s->wake, 1);
	(void)pthread_mutex_unlock(&s->lock);
}

uint64_t errands_add(struct errands *s, struct errand *e)
{
	uint64_t number = 0;

	(void)pthread_mutex_lock(&s->lock);
	if (s->waiting.count < ERRANDS_MAX) {
		put(&s->waiting, e);
		number = ++s->added;
		(void)eventfd_write(s->wake, 1);
	}
	(void)pthread_mutex_unlock(&s->lock);
	if (!number)
		e->drop(e);
	return number;
}

uint64_t errands_finished(struct errands *s)
{
	uint64_t number;

	(void)pthread_mutex_lock(&s->lock);
	number = s->finished;
	(void)pthread_mutex_unlock(&s->lock);
	return number;
}

size_t errands_left(struct errands *s)
{
	size_t count;

	(void)pthread_mutex_lock(&s->lock);
	count = (size_t)(s->added - s->finished);
	(void)pthread_mutex_unlock(&s->lock);
	return count;
}

bool errands_wait(struct errands *s, uint64_t number, int ms)
{
	uint64_t until_ns = clock_now_ns() + (uint64_t)ms * 1000000;
	struct timespec until = { (time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S) };
	bool is_finished;
	int r = 0;

	(void)pthread_mutex_lock(&s->lock);
	while (s->finished < number && r == 0)
		r = pthread_cond_timedwait(&s->has_finished, &s->lock, &until);
	is_finished = s->finished >= number;
	(void)pthread_mutex_unlock(&s->lock);
	return is_finished;
}

struct errand *errands_take(struct errands *s)
{
	struct errand *e;

	(void)pthread_mutex_lock(&s->lock);
	e = take(&s->done);
	(void)pthread_mutex_unlock(&s->lock);
	return e;
}
