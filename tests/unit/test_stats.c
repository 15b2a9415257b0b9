/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "file/path.h"
#include "identity/cookie.h"
#include "record/record.h"
#include "sfile/session.h"

#include <sched.h>
#include <string.h>
#include <sys/stat.h>

struct bench {
	char *dir, *samples;
	char *obstacle; /* in the way of a counter */
	struct cookie_table *cookies;
	struct record *rec;
};

/* A record that has lost a sample, which it cannot write. */
static void begin(struct bench *b)
{
	/* A sample, and nobody has said whose. */
	static const uint64_t words[] = { 0x1000, 0 };
	struct event event;

	event_timer(&event, 100, true, true);
	*b = (struct bench){ .dir = test_directory(), .cookies = cookie_table_new() };
	b->samples = session_samples(b->dir, "current");
	b->obstacle = path_join(b->samples, "stats/lost_no_context");
	CHECK_EQ(record_new(&(struct record_config){ .session_dir = b->dir,
						     .session_name = "current",
						     .events = &event,
						     .event_count = 1,
						     .no_vmlinux = true,
						     .cookies = b->cookies },
			    &b->rec, NULL),
		 0);
	CHECK_EQ(record_words(words, ARRAY_SIZE(words), b->rec), 0);
	CHECK_EQ(path_make_parents(b->obstacle, 0755, NULL), 0);
	CHECK_EQ(mkdir(b->obstacle, 0755), 0);
}

static void end(struct bench *b)
{
	CHECK_EQ(session_stat_get(b->samples, "lost_no_context"), 1);
	CHECK_EQ(session_stat_get(b->samples, "total_samples"), 1);
	record_free(b->rec);
	cookie_table_free(b->cookies);
	test_directory_donep(&b->dir);
	free(b->samples);
	free(b->obstacle);
}

/* A disk that is full takes one counter and not the next. */
static void a_counter_that_was_written_is_not_written_twice(void)
{
	struct bench b;

	begin(&b);
	CHECK(record_flush(b.rec, true, NULL) < 0);
	CHECK(record_flush(b.rec, true, NULL) < 0);
	CHECK_EQ(rmdir(b.obstacle), 0);
	CHECK_EQ(record_flush(b.rec, true, NULL), 0);
	end(&b);
}

static void await_writer(const struct bench *b)
{
	while (record_is_writing(b->rec))
		sched_yield();
}

/* Who has samples to drain does not wait for the disk. The next call reports a failure. */
static void counters_are_written_meanwhile(void)
{
	struct error err = ERROR_INIT;
	struct bench b;

	begin(&b);
	CHECK_EQ(record_flush(b.rec, false, &err), 0);
	await_writer(&b);
	CHECK(record_flush(b.rec, false, &err) < 0 && strstr(err.text, b.obstacle));
	CHECK_EQ(rmdir(b.obstacle), 0);
	await_writer(&b);
	(void)record_flush(b.rec, false, NULL); /* it may have been tried before */
	await_writer(&b);
	CHECK_EQ(record_flush(b.rec, false, NULL), 0);
	end(&b);
}

TESTS(T(a_counter_that_was_written_is_not_written_twice), T(counters_are_written_meanwhile))
