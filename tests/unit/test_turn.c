/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The turns of a loop. */
#include "test.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "stats/turn.h"

#include <pthread.h>
#include <unistd.h>

static void note(enum log_level level _unused_, const char *text, void *data)
{
	strbuf_addf(data, "%s\n", text);
}

/* A turn whose first stage took @ns. */
static void take_turn(struct turn *t, uint64_t ns)
{
	turn_begin(t);
	t->begun_ns -= ns;
	t->marked_ns -= ns;
	turn_stage(t, TURN_JIT);
	turn_end(t);
}

static void the_log_says_where_the_time_of_a_long_turn_went(void)
{
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	struct turn t = { 0 };

	log_to(LOG_LEVEL_DEBUG, note, &log);
	take_turn(&t, 1000000);
	CHECK_EQ(log.length, 0);
	take_turn(&t, 30000000000);
	CHECK(strstr(strbuf_text(&log), "no drain for 30"));
	CHECK(strstr(strbuf_text(&log), ": jit 30"));
	CHECK(strstr(strbuf_text(&log), "; of that, ran for "));
	strbuf_done(&log);
	log_to(LOG_LEVEL_INFO, note, &log);
	take_turn(&t, 30000000000);
	CHECK_EQ(log.length, 0);
	log_to(LOG_LEVEL_ERROR, NULL, NULL);
}

static void *split(void *data)
{
	turn_split(data);
	return NULL;
}

static void a_turn_that_another_thread_splits_counts_its_own_time(void)
{
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	struct turn t = { 0 };
	pthread_t thread;

	log_to(LOG_LEVEL_DEBUG, note, &log);
	turn_begin(&t);
	CHECK_EQ(t.tid, gettid());
	/* As if this thread had run and waited for so long. */
	t.ran_ns -= MIN(t.ran_ns, (uint64_t)1000000);
	t.begun_ns -= 30000000000;
	t.marked_ns -= 30000000000;
	CHECK_EQ(pthread_create(&thread, NULL, split, &t), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK(strstr(strbuf_text(&log), "no drain for 30"));
	CHECK_EQ(t.tid, gettid());
	CHECK(t.ran_ns <= clock_ns(t.clock));
	CHECK(t.ran_ns > 0);
	strbuf_done(&log);
	log_to(LOG_LEVEL_DEBUG, note, &log);
	turn_end(&t);
	CHECK(!strstr(strbuf_text(&log), "no drain for 30"));
	log_to(LOG_LEVEL_ERROR, NULL, NULL);
}

static void count(void *data)
{
	++*(int *)data;
}

static void something_is_done_between_turns(void)
{
	int calls = 0;
	struct turn t = { .between = count, .data = &calls };

	take_turn(&t, 0);
	CHECK_EQ(calls, 1);
	turn_start(&t);
	turn_next(&t);
	CHECK_EQ(calls, 2);
}

TESTS(T(the_log_says_where_the_time_of_a_long_turn_went), T(something_is_done_between_turns),
      T(a_turn_that_another_thread_splits_counts_its_own_time))
