/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing all that was counted, in turns, while samples come in. */
#include "record_bench.h"

#include "collect/internal/intake.h"
#include "record/internal/transient.h"
#include "stats/turn.h"

#include <errno.h>

enum { THREADS = 40 };

/* A sample of each thread, whose file cannot be kept open. */
static void count_threads(struct bench *b)
{
	uint64_t app = cookie_file(b->cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");

	for (uint32_t pid = 1; pid <= THREADS; pid++) {
		run_as(b, pid, app);
		evbuf_sample(b->buffer, app, 0x10, 0, 1);
	}
	CHECK_EQ(evbuf_flush(b->buffer), 0);
}

/* Begins a session whose samples go through @intake. */
static void start_with(struct bench *b, struct intake *intake)
{
	bench_start(b);
	evbuf_free(b->buffer);
	b->buffer = evbuf_new(256, intake_words, intake);
	*intake = (struct intake){ .cookies = b->cookies, .record = b->rec };
}

static size_t count_lines(const struct bench *b)
{
	_cleanup_free_ char *lines = sample_lines(b->session, "current");
	size_t count = 0;

	for (const char *at = lines; (at = strchr(at, '\n')); at++)
		count++;
	return count;
}

static void a_dump_ends_when_all_is_written(void)
{
	BENCH(b);
	unsigned int turns = 0;

	b.config.separate = RECORD_SEPARATE_THREAD;
	b.config.open_files_max = 8;
	bench_start(&b);
	count_threads(&b);
	CHECK(count_lines(&b) < THREADS);
	record_begin_dump(b.rec);
	while (record_dump(b.rec))
		turns++;
	CHECK_EQ(count_lines(&b), THREADS);
	CHECK(turns < 10000);
}

static void what_comes_during_a_dump_waits(void)
{
	BENCH(b);
	struct intake intake;

	start_with(&b, &intake);
	intake.holds = true;
	count_threads(&b);
	CHECK_EQ(intake_settle(&intake, INTAKE_SOME), 0);
	CHECK_EQ(stats_of(&b).samples, 0);
	intake.holds = false;
	CHECK_EQ(intake_settle(&intake, INTAKE_SOME), 0);
	CHECK_EQ(stats_of(&b).samples, THREADS);
	intake_done(&intake, NULL);
}

static void what_a_turn_has_no_time_for_waits_for_the_next(void)
{
	BENCH(b);
	struct intake intake;

	start_with(&b, &intake);
	intake.until_ns = 1; /* long ago */
	count_threads(&b);
	CHECK_EQ(intake_settle(&intake, INTAKE_SOME), 0);
	CHECK(intake_tend(&intake));
	CHECK_EQ(stats_of(&b).samples, 0);
	intake_begin(&intake, false);
	CHECK(!intake_tend(&intake));
	CHECK_EQ(stats_of(&b).samples, THREADS);
	intake_done(&intake, NULL);
}

static void who_only_drains_takes_no_failure_of_the_others(void)
{
	BENCH(b);
	struct intake intake;

	start_with(&b, &intake);
	intake.failure = -ENOSPC;
	intake.is_between = true;
	CHECK_EQ(intake_settle(&intake, INTAKE_SOME), 0);
	intake.is_between = false;
	CHECK_EQ(intake_settle(&intake, INTAKE_SOME), -ENOSPC);
	CHECK_EQ(intake_settle(&intake, INTAKE_SOME), 0);
	intake_done(&intake, NULL);
}

static void a_dump_records_what_was_drained_before_it(void)
{
	BENCH(b);
	struct intake intake;

	start_with(&b, &intake);
	intake.holds = true;
	count_threads(&b);
	intake_mark(&intake);
	count_threads(&b);
	while (intake_catch_up(&intake))
		;
	CHECK_EQ(stats_of(&b).samples, THREADS);
	intake.holds = false;
	CHECK_EQ(intake_settle(&intake, INTAKE_ALL), 0);
	CHECK_EQ(stats_of(&b).samples, 2 * THREADS);
	intake_done(&intake, NULL);
}

/* A sync drains, and the next turn does the rest, so that both are short. */
static void a_loop_with_turns_has_one_of_its_own_for_jit_code(void)
{
	struct turn turn = { 0 }; /* outlives what uses it */
	BENCH(b);

	turn_begin(&turn);
	b.config.turn = &turn;
	bench_start(&b);
	record_sync(b.rec, false);
	CHECK(b.rec->code_turns > 0);
	(void)record_tend(b.rec);
	CHECK_EQ(b.rec->code_turns, 0);
}

TESTS(T(who_only_drains_takes_no_failure_of_the_others),
      T(a_dump_records_what_was_drained_before_it),
      T(what_a_turn_has_no_time_for_waits_for_the_next),
      T(a_loop_with_turns_has_one_of_its_own_for_jit_code), T(a_dump_ends_when_all_is_written),
      T(what_comes_during_a_dump_waits))
