/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that goes before others, and for how long. */
#include "test.h"

#include "base/clock.h"
#include "urgent.h"

#include <pthread.h>
#include <sched.h>

static const uint64_t patience_ns = 5 * NS_PER_S, spent_ns = NS_PER_S;

static int policy(void)
{
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

/* Begins, in this thread, if it may have the priority. */
#define BEGIN(u)                                                                                   \
	_cleanup_(urgent_end) struct urgent u = { 0 };                                             \
	(void)urgent_begin(&(u), false);                                                           \
	if (!(u).may)                                                                              \
	SKIP("no right to real-time priority")

static void a_thread_that_runs_for_long_becomes_an_ordinary_one(void)
{
	uint64_t from_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	BEGIN(u);

	CHECK_EQ(policy(), SCHED_RR);
	while (policy() == SCHED_RR && clock_ns(CLOCK_THREAD_CPUTIME_ID) - from_ns < patience_ns)
		;
	CHECK_EQ(policy(), SCHED_OTHER);
	urgent_next(&u);
	CHECK(u.credit_ns < 50000000);
	u.at_ns -= spent_ns; /* it has waited for so long */
	urgent_next(&u);
	CHECK_EQ(policy(), SCHED_RR);
}

static void a_turn_without_time_left_is_an_ordinary_one(void)
{
	BEGIN(u);
	u.at_ns = clock_now_ns();
	u.ran_ns -= MIN(u.ran_ns, spent_ns);
	u.credit_ns = 0;
	urgent_next(&u);
	CHECK_EQ(policy(), SCHED_OTHER);
}

static void *note_policy(void *data)
{
	*(int *)data = policy();
	return NULL;
}

static void its_threads_are_ordinary_ones(void)
{
	pthread_t thread;
	int other = -1;
	BEGIN(u);

	CHECK_EQ(pthread_create(&thread, NULL, note_policy, &other), 0);
	(void)pthread_join(thread, NULL);
	CHECK_EQ(other, SCHED_OTHER);
}

static void a_thread_that_never_began_may_end(void)
{
	struct urgent u = { 0 };

	urgent_next(&u);
	urgent_end(&u);
	CHECK(!u.is_real_time);
}

TESTS(T(a_thread_that_runs_for_long_becomes_an_ordinary_one),
      T(a_turn_without_time_left_is_an_ordinary_one), T(its_threads_are_ordinary_ones),
      T(a_thread_that_never_began_may_end))
