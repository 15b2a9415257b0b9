/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that does the upkeep of sessions. */
#include "test.h"

#include "base/path.h"
#include "base/strbuf.h"
#include "history/keeper.h"

#include <errno.h>
#include <signal.h>
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
	ask(k, 5, "the keeper of the history has ended: start the daemon again\n", true);
	CHECK(keeper_is_gone(k));
}

TESTS(T(a_process_of_its_own_does_it), T(work_that_dies_or_hangs_is_reported_and_done_again))
