/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"
#include "unsynced.h"

#include "file/path.h"
#include "record/stat_writer.h"
#include "sfile/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void one_that_cannot_be_written_does_not_hold_up_others(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *obstacle = path_join(dir, "stats/first");
	struct stat_writer *w = stat_writer_new(dir);
	uint64_t first = 0, second = 0;
	struct error err = ERROR_INIT;

	CHECK_EQ(path_make_dirs(obstacle, 0755, NULL), 0);
	stat_writer_note(w, "first", 5, &first);
	stat_writer_note(w, "second", 7, &second);
	CHECK_EQ(stat_writer_finish(w, &err), -EISDIR);
	CHECK(strstr(err.text, "stats/first"));
	CHECK_EQ(session_stat_get(dir, "second"), 7);
	CHECK_EQ(rmdir(obstacle), 0);
	stat_writer_note(w, "first", 6, &first);
	CHECK_EQ(stat_writer_finish(w, &err), 0);
	CHECK_EQ(session_stat_get(dir, "first"), 6);
	CHECK_EQ(session_stat_get(dir, "second"), 7);
	stat_writer_free(w);
}

static int leased = -1;
static volatile sig_atomic_t refused;

static void give_up_lease(int signal _unused_)
{
	refused++;
	(void)fcntl(leased, F_SETLEASE, F_UNLCK);
}

/* A lease makes the first attempt fail, and ends with it. */
static void what_fails_once_at_the_end_is_written(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "stats/samples");
	struct sigaction take = { .sa_handler = give_up_lease, .sa_flags = SA_RESTART };
	struct stat_writer *w = stat_writer_new(dir);
	struct error err = ERROR_INIT;
	uint64_t samples = 0;

	stat_writer_note(w, "samples", 5, &samples);
	CHECK_EQ(stat_writer_finish(w, &err), 0);
	CHECK_EQ(sigaction(SIGIO, &take, NULL), 0);
	leased = open(path, O_RDONLY | O_CLOEXEC);
	if (fcntl(leased, F_SETLEASE, F_RDLCK) == 0) {
		stat_writer_note(w, "samples", 8, &samples);
		CHECK_EQ(stat_writer_finish(w, &err), 0);
		CHECK_EQ(refused, 1);
		CHECK_EQ(session_stat_get(dir, "samples"), 8);
	} else {
		test_skipped = "no leases here";
	}
	(void)close(leased);
	stat_writer_free(w);
}

static void what_may_be_lost_in_a_power_cut_is_not_added_twice(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct stat_writer *w = stat_writer_new(dir);
	struct error err = ERROR_INIT;
	uint64_t samples = 0;

	stat_writer_note(w, "samples", 5, &samples);
	CHECK_EQ(stat_writer_finish(w, &err), 0);
	directories_fail = true;
	stat_writer_note(w, "samples", 11, &samples);
	CHECK_EQ(stat_writer_finish(w, &err), -EIO);
	CHECK(strstr(err.text, "stats/samples is written, but may be lost") != NULL);
	CHECK_EQ(session_stat_get(dir, "samples"), 11);
	/* Nothing is new, but the directory is tried again. */
	CHECK_EQ(stat_writer_finish(w, &err), -EIO);
	directories_fail = false;
	CHECK_EQ(stat_writer_finish(w, &err), 0);
	CHECK_EQ(session_stat_get(dir, "samples"), 11);
	stat_writer_free(w);
}

TESTS(T(one_that_cannot_be_written_does_not_hold_up_others),
      T(what_fails_once_at_the_end_is_written),
      T(what_may_be_lost_in_a_power_cut_is_not_added_twice))
