/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/relief.h"

#include "base/clock.h"
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* What a thread does for its owner. */
struct job {
	struct relief *relief;
	int done; /* readable when it was done */
	pthread_t by;
	bool is_owners_turn; /* written by both, each in its turn */
	bool overlapped;
};

static void work(void *data)
{
	struct job *j = data;

	j->overlapped |= j->is_owners_turn;
	j->by = pthread_self();
	CHECK_EQ(eventfd_write(j->done, 1), 0);
}

static void begin_with(struct job *j, void (*what)(void *data))
{
	*j = (struct job){ .done = eventfd(0, EFD_CLOEXEC), .is_owners_turn = true };
	j->relief = relief_new(what, j);
	CHECK_EQ(relief_start(j->relief, NULL, NULL), 0);
}

static void begin(struct job *j)
{
	begin_with(j, work);
}

static void end(struct job *j)
{
	relief_free(j->relief);
	CHECK_EQ(close(j->done), 0);
}

static void leave(struct job *j)
{
	j->is_owners_turn = false;
	relief_leave(j->relief);
}

static void come_back(struct job *j)
{
	relief_return(j->relief);
	j->is_owners_turn = true;
}

/* Waits until it was done; there is no limit but the test's. */
static void await(const struct job *j)
{
	eventfd_t times;

	CHECK_EQ(eventfd_read(j->done, &times), 0);
}

static bool is_done(const struct job *j, int ms)
{
	struct pollfd p = { .fd = j->done, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

static void another_thread_works_while_the_owner_is_away(void)
{
	struct job j;

	begin(&j);
	for (int i = 0; i < 3; i++) {
		leave(&j);
		await(&j);
		come_back(&j);
		CHECK(!pthread_equal(j.by, pthread_self()));
	}
	CHECK(!j.overlapped);
	end(&j);
}

static void it_works_again_and_again(void)
{
	struct job j;

	begin(&j);
	leave(&j);
	await(&j);
	await(&j);
	await(&j);
	come_back(&j);
	end(&j);
}

static void nobody_works_in_the_owners_turn(void)
{
	struct job j;

	begin(&j);
	CHECK(!is_done(&j, 3 * RELIEF_MS));
	leave(&j);
	relief_leave(j.relief); /* nested */
	await(&j);
	relief_return(j.relief);
	await(&j);
	come_back(&j);
	(void)is_done(&j, 0);
	CHECK(!j.overlapped);
	end(&j);
}

static void *leave_elsewhere(void *data)
{
	struct job *j = data;

	relief_leave(j->relief);
	CHECK(!is_done(j, 3 * RELIEF_MS));
	relief_return(j->relief);
	return NULL;
}

static void only_the_owner_can_leave(void)
{
	pthread_t other;
	struct job j;

	begin(&j);
	CHECK_EQ(pthread_create(&other, NULL, leave_elsewhere, &j), 0);
	CHECK_EQ(pthread_join(other, NULL), 0);
	end(&j);
}

/* Turns in which little is waited for, of a thread that never rests: nothing overlaps. */
static void many_short_times_away(void)
{
	struct job j;

	begin(&j);
	for (int i = 0; i < 300000 || !is_done(&j, 0); i++) {
		leave(&j);
		come_back(&j);
	}
	CHECK(!j.overlapped);
	end(&j);
}

static void work_for_long(void *data)
{
	const uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + NS_PER_S;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		;
	work(data);
}

/* A drain that took long is followed by a longer rest, which does not hold up the end. */
static void the_end_waits_for_no_rest(void)
{
	struct job j;
	uint64_t since_ns;

	begin_with(&j, work_for_long);
	leave(&j);
	await(&j);
	come_back(&j);
	since_ns = clock_now_ns();
	end(&j);
	CHECK(clock_now_ns() - since_ns < (RELIEF_SHARE - 1) * NS_PER_S);
}

static void work_after_a_while(void *data)
{
	const struct timespec while_ns = { .tv_nsec = 400000000 };

	(void)nanosleep(&while_ns, NULL);
	work(data);
}

/* It need not rest for what it waited. */
static void waiting_is_no_work(void)
{
	struct job j;
	uint64_t since_ns;

	begin_with(&j, work_after_a_while);
	leave(&j);
	await(&j);
	since_ns = clock_now_ns();
	await(&j);
	CHECK(clock_now_ns() - since_ns < RELIEF_SHARE * UINT64_C(400000000));
	come_back(&j);
	end(&j);
}

static void without_a_thread_nothing_happens(void)
{
	struct job j = { .relief = relief_new(work, &j) };

	relief_leave(j.relief);
	relief_return(j.relief);
	relief_free(j.relief);
	relief_leave(NULL);
	relief_return(NULL);
}

TESTS(T(another_thread_works_while_the_owner_is_away), T(it_works_again_and_again),
      T(nobody_works_in_the_owners_turn), T(only_the_owner_can_leave), T(many_short_times_away),
      T(the_end_waits_for_no_rest), T(waiting_is_no_work), T(without_a_thread_nothing_happens))
