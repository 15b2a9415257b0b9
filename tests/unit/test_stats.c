/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "file/path.h"
#include "identity/cookie.h"
#include "record/record.h"
#include "sfile/session.h"

#include <sys/stat.h>

DEFINE_CLEANUP(struct cookie_table *, cookie_table_free);

/* A disk that is full takes one counter and not the next. */
static void a_counter_that_was_written_is_not_written_twice(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(cookie_table_freep) struct cookie_table *cookies = cookie_table_new();
	_cleanup_(record_freep) struct record *rec = NULL;
	_cleanup_free_ char *samples = session_samples(dir, "current");
	_cleanup_free_ char *obstacle = path_join(samples, "stats/lost_no_context");
	/* A sample, and nobody has said whose. */
	static const uint64_t words[] = { 0x1000, 0 };
	struct event event;
	struct error err = ERROR_INIT;

	event_timer(&event, 100, true, true);
	const struct record_config config = { .session_dir = dir,
					      .session_name = "current",
					      .events = &event,
					      .event_count = 1,
					      .no_vmlinux = true,
					      .cookies = cookies };

	if (!CHECK(record_new(&config, &rec, &err) == 0))
		return;
	CHECK_EQ(record_words(words, ARRAY_SIZE(words), rec), 0);
	CHECK_EQ(path_make_parents(obstacle, 0755, &err), 0);
	CHECK_EQ(mkdir(obstacle, 0755), 0);
	CHECK(record_flush(rec, true, &err) < 0);
	CHECK(record_flush(rec, true, &err) < 0);
	CHECK_EQ(rmdir(obstacle), 0);
	CHECK_EQ(record_flush(rec, true, &err), 0);
	CHECK_EQ(session_stat_get(samples, "lost_no_context"), 1);
	CHECK_EQ(session_stat_get(samples, "total_samples"), 1);
}

TESTS(T(a_counter_that_was_written_is_not_written_twice))
