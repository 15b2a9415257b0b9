/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/relief.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct relief {
	void (*work)(void *data);
	void *data;
	void (*enter)(void); /* or NULL */
	bool is_started;
	pthread_t owner, thread;
	pthread_mutex_t turn; /* of the owner while it has not left, of the thread while it works */
	unsigned int depth;   /* the owner's: how often it has left */
	int timer;	      /* wakes the thread */
	int end;	      /* eventfd: the thread is to end, also if it rests */
	atomic_bool is_set;   /* the timer */
	atomic_bool ends;
};

static void set_timer(const struct relief *r, long ms)
{
	const struct itimerspec when = { .it_value = { 0, ms * 1000000 } };

	(void)timerfd_settime(r->timer, 0, &when, NULL);
}

/* Works as long as the owner is away, for a share of the time. Only what it runs counts: on a busy
 * machine, it waits for a CPU most of the time, and somebody may expect a sign of life. */
static void take_over(struct relief *r)
{
	struct pollfd end = { .fd = r->end, .events = POLLIN };

	while (!r->ends && pthread_mutex_trylock(&r->turn) == 0) {
		const uint64_t since_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		uint64_t ran_ms;

		r->work(r->data);
		(void)pthread_mutex_unlock(&r->turn);
		ran_ms = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - since_ns) / 1000000;
		(void)poll(&end, 1, (int)MAX((RELIEF_SHARE - 1) * ran_ms, (uint64_t)RELIEF_MS));
	}
}

static void *serve(void *data)
{
	struct relief *r = data;
	uint64_t expirations;

	if (r->enter)
		r->enter();
	while (!r->ends) {
		if (read(r->timer, &expirations, sizeof(expirations)) < 0)
			break;
		r->is_set = false;
		atomic_thread_fence(memory_order_seq_cst);
		take_over(r);
	}
	return NULL;
}

struct relief *relief_new(void (*work)(void *data), void *data)
{
	struct relief *r = xcalloc(1, sizeof(*r));

	r->work = work;
	r->data = data;
	r->timer = r->end = -1;
	return r;
}

/* The owner may have real-time priority, which the thread must get while that waits for it. */
static void init_turn(pthread_mutex_t *turn)
{
	pthread_mutexattr_t inherit;

	(void)pthread_mutexattr_init(&inherit);
	(void)pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
	(void)pthread_mutex_init(turn, &inherit);
	(void)pthread_mutexattr_destroy(&inherit);
}

int relief_start(struct relief *r, void (*enter)(void), struct error *err)
{
	sigset_t all, before;
	int error;

	r->enter = enter;
	r->owner = pthread_self();
	r->end = eventfd(0, EFD_CLOEXEC);
	r->timer = r->end < 0 ? -1 : timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (r->timer < 0)
		return error_errno(err, -errno, "cannot create a timer");
	init_turn(&r->turn);
	(void)pthread_mutex_lock(&r->turn);
	/* Another thread waits for signals; SIGSYS reports a refused system call. */
	(void)sigfillset(&all);
	(void)sigdelset(&all, SIGSYS);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&r->thread, NULL, serve, r);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	r->is_started = error == 0;
	return error ? error_errno(err, -error, "cannot start a thread") : 0;
}

void relief_free(struct relief *r)
{
	if (!r)
		return;
	if (r->is_started) {
		r->ends = true;
		(void)eventfd_write(r->end, 1);
		set_timer(r, 1);
		(void)pthread_join(r->thread, NULL);
	}
	if (r->timer >= 0) {
		(void)pthread_mutex_unlock(&r->turn);
		(void)pthread_mutex_destroy(&r->turn);
		(void)close(r->timer);
	}
	cleanup_closep(&r->end);
	free(r);
}

static bool is_owner(const struct relief *r)
{
	return r && r->is_started && pthread_equal(pthread_self(), r->owner);
}

void relief_leave(struct relief *r)
{
	if (!is_owner(r) || r->depth++)
		return;
	(void)pthread_mutex_unlock(&r->turn);
	/* Either the thread sees that it is unlocked, or this sees that the timer is not set. */
	atomic_thread_fence(memory_order_seq_cst);
	if (_unlikely_(!r->is_set)) {
		r->is_set = true;
		set_timer(r, RELIEF_MS);
	}
}

void relief_return(struct relief *r)
{
	if (!is_owner(r) || --r->depth)
		return;
	(void)pthread_mutex_lock(&r->turn);
}
