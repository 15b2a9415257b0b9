/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/errands.h"

#include "base/mem.h"
#include "test.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct note {
	struct errand errand;
	int number, *dropped;
	int gate; /* readable when it may go on, or -1 */
	bool ran;
	uint64_t rights; /* effective capabilities of the thread */
	int nice;
};

static uint64_t rights(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2] = { 0 };

	CHECK_EQ(syscall(SYS_capget, &head, sets), 0);
	return (uint64_t)sets[1].effective << 32 | sets[0].effective;
}

static void run(struct errand *e)
{
	struct note *n = (struct note *)e;
	eventfd_t value;

	n->rights = rights();
	n->nice = getpriority(PRIO_PROCESS, 0);
	n->ran = n->gate < 0 || eventfd_read(n->gate, &value) == 0;
}

static void drop(struct errand *e)
{
	struct note *n = (struct note *)e;

	++*n->dropped;
	free(n);
}

static uint64_t add(struct errands *s, int number, int gate, int *dropped)
{
	struct note *n = xcalloc(1, sizeof(*n));

	*n = (struct note){ { .run = run, .drop = drop }, number, dropped, gate, false, 0, 0 };
	return errands_add(s, &n->errand);
}

static void errands_come_back_in_order(void)
{
	int dropped = 0, i;
	_cleanup_(errands_freep) struct errands *s = NULL;

	CHECK_EQ(errands_new(ERRANDS_OUTSIDE, &s, NULL), 0);
	CHECK(!errands_take(s));
	for (i = 1; i <= 100; i++)
		CHECK_EQ(add(s, i, -1, &dropped), (uint64_t)i);
	CHECK(errands_wait(s, 100, 10000));
	for (i = 1; i <= 100; i++) {
		struct note *n = (struct note *)errands_take(s);

		CHECK(n && n->ran && n->number == i);
		free(n);
	}
	CHECK(!errands_take(s));
	CHECK_EQ(dropped, 0);
}

static void one_that_waits_holds_up_the_later_ones_only(void)
{
	int dropped = 0; /* is used until the errands are freed */
	_cleanup_(errands_freep) struct errands *s = NULL;
	_cleanup_close_ int gate = eventfd(0, EFD_CLOEXEC);

	CHECK_EQ(errands_new(ERRANDS_OUTSIDE, &s, NULL), 0);
	CHECK_EQ(add(s, 1, gate, &dropped), 1);
	CHECK_EQ(add(s, 2, -1, &dropped), 2);
	CHECK(!errands_wait(s, 1, 1));
	CHECK_EQ(errands_finished(s), 0);
	CHECK_EQ(eventfd_write(gate, 1), 0);
	CHECK(errands_wait(s, 2, 10000));
}

static void what_is_not_taken_is_dropped(void)
{
	struct errands *s;
	int dropped = 0, gate = eventfd(0, EFD_CLOEXEC), i;

	CHECK_EQ(errands_new(ERRANDS_OUTSIDE, &s, NULL), 0);
	(void)add(s, 0, -1, &dropped);
	CHECK(errands_wait(s, 1, 10000));
	for (i = 0; i < 10; i++)
		(void)add(s, i, gate, &dropped);
	errands_end(s);
	CHECK_EQ(eventfd_write(gate, 1), 0);
	errands_free(s);
	CHECK_EQ(dropped, 11);
	(void)close(gate);
}

static void wake(struct errand *e)
{
	struct note *n = (struct note *)e;

	(void)eventfd_write(n->number, 1);
	free(n);
}

/* The thread frees all when it is done. */
static void one_that_does_not_end_can_be_left(void)
{
	_cleanup_close_ int gate = eventfd(0, EFD_CLOEXEC), freed = eventfd(0, EFD_CLOEXEC);
	struct note *n = xcalloc(1, sizeof(*n));
	struct errands *s;
	eventfd_t value;

	*n = (struct note){ { .run = run, .drop = wake }, freed, NULL, gate, false, 0, 0 };
	CHECK_EQ(errands_new(ERRANDS_OUTSIDE, &s, NULL), 0);
	CHECK_EQ(errands_add(s, &n->errand), 1);
	errands_leave(s);
	CHECK_EQ(eventfd_write(gate, 1), 0);
	CHECK_EQ(eventfd_read(freed, &value), 0);
}

/* The capabilities of a thread for @kind. */
static uint64_t rights_for(enum errands_kind kind)
{
	int dropped = 0;
	_cleanup_(errands_freep) struct errands *s = NULL;
	_cleanup_free_ struct note *n = NULL;

	CHECK_EQ(errands_new(kind, &s, NULL), 0);
	CHECK(errands_wait(s, add(s, 1, -1, &dropped), 10000));
	n = (struct note *)errands_take(s);
	return n->rights;
}

static void the_thread_has_only_the_rights_that_it_needs(void)
{
	CHECK_EQ(rights_for(ERRANDS_OUTSIDE), 0);
	CHECK_EQ(rights_for(ERRANDS_FILES),
		 rights() & (CAP_TO_MASK(CAP_DAC_OVERRIDE) | CAP_TO_MASK(CAP_DAC_READ_SEARCH)));
}

/* Sets the capabilities of this thread; returns those it had. */
static uint64_t set_rights(uint64_t wanted)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2];
	uint64_t had;

	CHECK_EQ(syscall(SYS_capget, &head, sets), 0);
	had = sets[0].effective | (uint64_t)sets[1].effective << 32;
	sets[0].effective = (uint32_t)wanted;
	sets[1].effective = (uint32_t)(wanted >> 32);
	CHECK_EQ(syscall(SYS_capset, &head, sets), 0);
	return had;
}

/* The right to look at others is enough. Without it, only processes with fewer capabilities may be
 * looked at, so the thread needs all. */
static void a_thread_that_reads_processes_can(void)
{
	uint64_t all = set_rights(rights()), rest = all & ~CAP_TO_MASK(CAP_SYS_PTRACE);

	if (all == rest)
		SKIP("this user may not look at all processes");
	CHECK_EQ(rights_for(ERRANDS_PROCESSES), CAP_TO_MASK(CAP_SYS_PTRACE));
	(void)set_rights(rest);
	CHECK_EQ(rights_for(ERRANDS_PROCESSES), rest);
	(void)set_rights(all);
}

/* One that drains samples may start it. */
static void the_thread_has_no_better_priority(void)
{
	const struct sched_param ordinary = { 0 };
	int dropped = 0;
	_cleanup_(errands_freep) struct errands *s = NULL;
	_cleanup_free_ struct note *n = NULL;

	if (setpriority(PRIO_PROCESS, 0, -5) < 0)
		SKIP("this user may not have a better priority");
	CHECK_EQ(errands_new(ERRANDS_OUTSIDE, &s, NULL), 0);
	CHECK(errands_wait(s, add(s, 1, -1, &dropped), 10000));
	n = (struct note *)errands_take(s);
	CHECK_EQ(n->nice, 0);
	CHECK_EQ(getpriority(PRIO_PROCESS, 0), -5);
	free(STEAL(n));
	errands_free(STEAL(s));
	/* But one that is waited for, whatever the scheduler lets threads inherit. */
	CHECK_EQ(sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &ordinary), 0);
	CHECK_EQ(errands_new(ERRANDS_PROCESSES, &s, NULL), 0);
	CHECK(errands_wait(s, add(s, 1, -1, &dropped), 10000));
	n = (struct note *)errands_take(s);
	CHECK_EQ(n->nice, -5);
	(void)setpriority(PRIO_PROCESS, 0, 0);
}

TESTS(T(errands_come_back_in_order), T(one_that_waits_holds_up_the_later_ones_only),
      T(what_is_not_taken_is_dropped), T(one_that_does_not_end_can_be_left),
      T(the_thread_has_only_the_rights_that_it_needs), T(a_thread_that_reads_processes_can),
      T(the_thread_has_no_better_priority))
