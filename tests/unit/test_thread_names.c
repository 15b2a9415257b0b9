/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/thread_names.h"

#include "tests/unit/test.h"

static void names_follow_the_records(void)
{
	struct thread_names *t = thread_names_new("/no/such/root");
	struct perf_record r = { .type = PERF_RECORD_COMM, .tid = 7, .comm.name = "main" };

	CHECK_STR(thread_names_of(t, 7), "(unknown)");
	CHECK_STR(thread_names_of(t, 0), "swapper");
	thread_names_record(t, &r);
	CHECK_STR(thread_names_of(t, 7), "main");
	r = (struct perf_record){ .type = PERF_RECORD_FORK, .tid = 8, .task.parent_tid = 7 };
	thread_names_record(t, &r);
	CHECK_STR(thread_names_of(t, 8), "main");
	r = (struct perf_record){ .type = PERF_RECORD_COMM, .tid = 8, .comm.name = "worker" };
	thread_names_record(t, &r);
	CHECK_STR(thread_names_of(t, 8), "worker");
	CHECK_STR(thread_names_of(t, 7), "main");
	/* The number is used again, by a child of a thread that nothing is known of. */
	r = (struct perf_record){ .type = PERF_RECORD_FORK, .tid = 8, .task.parent_tid = 99 };
	thread_names_record(t, &r);
	CHECK_STR(thread_names_of(t, 8), "(unknown)");
	r = (struct perf_record){ .type = PERF_RECORD_EXIT, .tid = 7 };
	thread_names_record(t, &r);
	CHECK_STR(thread_names_of(t, 7), "(unknown)");
	thread_names_free(t);
}

static void many_threads_take_bounded_memory(void)
{
	struct thread_names *t = thread_names_new("/no/such/root");
	struct perf_record r = { .type = PERF_RECORD_COMM, .comm.name = "one" };

	for (r.tid = 1; r.tid <= (1 << 16) + 1; r.tid++)
		thread_names_record(t, &r);
	CHECK_STR(thread_names_of(t, 1), "(unknown)");
	CHECK_STR(thread_names_of(t, (1 << 16) + 1), "one");
	thread_names_free(t);
}

TESTS(T(names_follow_the_records), T(many_threads_take_bounded_memory))
