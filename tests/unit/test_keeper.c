/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that does the upkeep of sessions. */
#include "test.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "history/keeper.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Waits until the keeper has answered. */
static void await(struct keeper *k, struct strbuf *text)
{
	while (!keeper_take(k, text))
		(void)usleep(1000);
}

/* Work that writes a file into the session. */
static int work(const char *samples, const struct upkeep *how _unused_, struct strbuf *log _unused_)
{
	_cleanup_free_ char *path = path_join(samples, "done");

	return path_write(path, "", 0600, NULL);
}

static void a_process_of_its_own_does_it(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *done = path_join(dir, "done");
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT, none = STRBUF_INIT;
	_cleanup_(keeper_freep) struct keeper *k = NULL;
	const struct upkeep how = { .live = 2 };

	CHECK_EQ(keeper_new(work, &k, NULL), 0);
	CHECK(!keeper_take(k, &text));
	CHECK(keeper_ask(k, dir, &how));
	await(k, &text);
	CHECK_STR(strbuf_text(&text), "");
	CHECK_EQ(unlink(done), 0);
	CHECK(keeper_ask(k, "/no such directory", &how));
	await(k, &text);
	CHECK_STR(strbuf_text(&text),
		  "the upkeep of /no such directory failed (No such file or directory)\n");
	CHECK(keeper_ask(k, dir, &how));
	await(k, &none);
	CHECK_STR(strbuf_text(&none), "");
	CHECK_EQ(unlink(done), 0);
	/* It may be ended while it works. */
	CHECK(keeper_ask(k, dir, &how));
}

/* Work that a live generation of 1 lets hang, 2 end by a signal, 4 fail, 5 end the
 * keeper. */
static int fail(const char *samples _unused_, const struct upkeep *how, struct strbuf *log)
{
	if (how->live == 1)
		for (;;)
			(void)pause();
	if (how->live == 2)
		(void)raise(SIGKILL);
	if (how->live == 5) {
		(void)kill(getppid(), SIGKILL);
		(void)pause();
	}
	strbuf_adds(log, "done\n");
	return how->live == 4 ? -ENOSPC : 0;
}

/* Has work done; what is then said, or wrong, must be @wanted. */
static void ask(struct keeper *k, uint32_t live, const char *wanted, bool is_wrong)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT, wrong = STRBUF_INIT;
	const struct upkeep how = { .live = live };

	CHECK(keeper_ask(k, "/", &how));
	await(k, &text);
	CHECK_STR(strbuf_text(&text), wanted);
	keeper_trouble(k, &wrong);
	CHECK_EQ(wrong.length > 0, is_wrong);
	CHECK(!is_wrong || !strncmp(strbuf_text(&wrong), wanted, strcspn(wanted, "\n")));
	CHECK(!keeper_retries(k)); /* not at once */
}

static void work_that_dies_or_hangs_is_reported_and_done_again(void)
{
	_cleanup_(keeper_freep) struct keeper *k = NULL;

	CHECK_EQ(keeper_new(fail, &k, NULL), 0);
	ask(k, 2, "the roll-up failed (signal 9)\n", true);
	ask(k, 3, "done\n", false);
	keeper_limit(k, 50);
	ask(k, 1, "the roll-up failed (signal 9)\n", true);
	keeper_limit(k, 60000);
	ask(k, 3, "done\n", false);
	ask(k, 4, "the upkeep of / failed (No space left on device)\ndone\n", true);
	ask(k, 3, "done\n", false);
	CHECK(!keeper_is_gone(k));
}

static void a_keeper_that_is_killed_is_started_again_but_not_for_ever(void)
{
	_cleanup_(keeper_freep) struct keeper *k = NULL;
	int i;

	CHECK_EQ(keeper_new(fail, &k, NULL), 0);
	for (i = 0; i < 3; i++) {
		ask(k, 5,
		    "the process that keeps the history was killed (signal 9); restarting it\n",
		    true);
		ask(k, 3, "done\n", false);
		CHECK(!keeper_is_gone(k));
	}
	ask(k, 5, "the process that keeps the history has exited; restart the daemon\n", true);
	CHECK(keeper_is_gone(k));
	CHECK(!keeper_ask(k, "/", &(struct upkeep){ .live = 3 }));
}

/* Work of half a second of CPU time. */
static int compute(const char *samples _unused_, const struct upkeep *how _unused_,
		   struct strbuf *log)
{
	struct timespec t = { 0 };

	while (t.tv_sec == 0 && t.tv_nsec < 500000000)
		(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	strbuf_adds(log, "done\n");
	return 0;
}

static void work_leaves_most_of_a_cpu_to_others(void)
{
	_cleanup_(keeper_freep) struct keeper *k = NULL;
	uint64_t before_ns = clock_now_ns();

	CHECK_EQ(keeper_new(compute, &k, NULL), 0);
	ask(k, 1, "done\n", false);
	/* It rests three times as long as it runs: a busy machine only makes that longer. */
	CHECK(clock_now_ns() - before_ns > NS_PER_S);
}

TESTS(T(a_process_of_its_own_does_it), T(work_that_dies_or_hangs_is_reported_and_done_again),
      T(a_keeper_that_is_killed_is_started_again_but_not_for_ever),
      T(work_leaves_most_of_a_cpu_to_others))
