/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The upkeep of a history that is killed, read meanwhile, on a full disk, or damaged. */
#include "history_past.h"
#include "killed.h"
#include "unsynced.h"

#include "history/history_check.h"
#include "history/history_kind.h"
#include "history/internal/segment_format.h"
#include "history/levels.h"
#include "history/segment.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

/* --- interruptions --- */

static void work(const void *past)
{
	(void)upkeep(past, 0);
}

static void check(const void *past)
{
	check_sums(past);
}

static void a_kill_at_any_time_changes_no_sum(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour, killed = 0;

	for (hour = 0; hour < 24 * 7 + 16; hour++) {
		write_hour(&p, 20 * MINUTE);
		/* Much is due at once after some hours, as after a pause. */
		if (hour % 16 == 15)
			killed += kill_often(&(struct killed_work){ work, check, &p, 3000 });
	}
	CHECK(killed > 0);
	(void)upkeep(&p, 0);
	check_sums(&p);
	CHECK_EQ(files_of(&p, "roll", ""), 0);
	CHECK_EQ(files_of(&p, "flat.3.", ""), 1);
}

/* A reader may read while files are rolled up, and while the oldest are deleted: it sees all that
 * is kept, and nothing twice. */
static void readers_see_each_sample_once(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	const uint64_t all = UINT64_C(60) * 3 * 10, kept_hours = 24;
	unsigned int hour;
	int status = 0;
	pid_t pid;

	for (hour = 0; hour < 60; hour++)
		write_hour(&p, 20 * MINUTE);
	pid = fork();
	if (pid == 0) {
		for (hour = 0; hour < 40; hour++) {
			const struct upkeep how = { .now_ms = p.now_ms,
						    .keep_ms = (60 + kept_hours) * HOUR,
						    .live = p.generation + 1 };
			_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;

			CHECK(history_upkeep(p.dir, &how, &log) >= 0);
			p.now_ms += HOUR;
		}
		_exit(0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		_cleanup_(history_freep) struct history *h =
			read_window(&p, BEGIN_MS, BEGIN_MS + 60 * (int64_t)HOUR);
		const struct history_cover *c = h ? history_covers(h) : NULL;

		if (!h) /* read_window() has said why */
			continue;
		CHECK(c->samples <= all && c->samples >= 60 / 2 * 3 * 10);
		CHECK_EQ(c->samples % 30, 0);
		CHECK_EQ(c->damaged, 0);
	}
	CHECK_EQ(status, 0);
}

/* No file may be longer than @bytes: as on a full disk. */
static void fill_disk(rlim_t bytes)
{
	const struct rlimit most = { bytes, RLIM_INFINITY };

	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &most), 0);
}

static void a_full_disk_changes_no_sum(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct upkeep how = { 0 };
	rlim_t bytes;

	(void)signal(SIGXFSZ, SIG_IGN);
	write_hour(&p, 10 * MINUTE);
	how.now_ms = p.now_ms;
	how.live = p.generation + 1;
	for (bytes = 0; bytes < 500; bytes += 100) {
		fill_disk(bytes);
		CHECK_EQ(history_upkeep(p.dir, &how, &log), -EFBIG);
		fill_disk(RLIM_INFINITY);
		check_sums(&p);
	}
	CHECK(strstr(strbuf_text(&log), "cannot write flat.1.1-1: ") != NULL);
	CHECK_EQ(files_of(&p, "roll", ""), 0);
	CHECK_EQ(files_of(&p, "flat.", ""), 0);
	CHECK_EQ(upkeep(&p, 0), 1);
	check_sums(&p);
}

/* A power cut could take the new names, and not the removal of the old ones. */
static void nothing_goes_before_what_replaces_it_is_on_the_disk(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct upkeep how = { 0 };

	write_hour(&p, 10 * MINUTE);
	(void)upkeep(&p, 0);
	write_hour(&p, 10 * MINUTE);
	how.now_ms = p.now_ms + 30 * DAY;
	how.live = p.generation + 1;
	directories_fail = true;
	CHECK_EQ(history_upkeep(p.dir, &how, &log), -EIO);
	CHECK_EQ(files_of(&p, "flat.1.", ""), 2);
	CHECK_EQ(files_of(&p, "", ".slices"), 2);
	CHECK_EQ(history_upkeep(p.dir, &how, &log), -EIO);
	CHECK_EQ(files_of(&p, "", ".slices"), 2);
	how.bytes_max = 1;
	CHECK_EQ(history_upkeep(p.dir, &how, &log), -EIO);
	CHECK_EQ(files_of(&p, "", ".slices"), 2);
	CHECK(strstr(strbuf_text(&log), "nothing is deleted") != NULL);
	how.bytes_max = 0;
	directories_fail = false;
	CHECK(history_upkeep(p.dir, &how, &log) >= 0);
	CHECK_EQ(files_of(&p, "", ".slices"), 0);
}

/* Hides a generation, or shows it again. */
static void hide(const struct past *p, unsigned int number, bool hidden)
{
	static const char *const ends[] = { "slices", "names" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		_cleanup_free_ char *here = xasprintf("%s/history/%u.%s", p->dir, number, ends[i]),
				    *there = xasprintf("%s/%u.%s", p->dir, number, ends[i]);

		CHECK_EQ(hidden ? rename(here, there) : rename(there, here), 0);
	}
}

/* As after an error when the first one was to be rolled up. */
static void a_segment_does_not_span_generations_that_another_one_has(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	int i;

	for (i = 0; i < 3; i++) {
		write_hour(&p, 10 * MINUTE);
		p.now_ms -= i < 2 ? HOUR : 0; /* all in one hour */
	}
	hide(&p, 1, true);
	hide(&p, 3, true);
	(void)upkeep(&p, 0);
	CHECK_EQ(files_of(&p, "flat.1.2-2", ""), 1);
	hide(&p, 1, false);
	hide(&p, 3, false);
	CHECK_EQ(upkeep(&p, 0), 2);
	CHECK_EQ(files_of(&p, "flat.1.1-1", ""), 1);
	CHECK_EQ(files_of(&p, "flat.1.3-3", ""), 1);
	CHECK_EQ(upkeep(&p, 0), 0);
}

static void names_without_slices_are_removed(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *slices = path_join(dir, "history/1.slices");
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };

	write_hour(&p, 10 * MINUTE);
	write_hour(&p, 10 * MINUTE);
	CHECK_EQ(unlink(slices), 0);
	CHECK_EQ(files_of(&p, "", ".names"), 2);
	(void)upkeep(&p, 0);
	CHECK_EQ(files_of(&p, "", ".names"), 1);
}

/* --- damage --- */

static void damage_anywhere_is_noticed(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "history/flat.1.1-1");
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	_cleanup_close_ int fd = -1;
	struct stat st;
	off_t at;

	write_hour(&p, 10 * MINUTE);
	write_hour(&p, 10 * MINUTE);
	(void)upkeep(&p, 0);
	write_hour(&p, 10 * MINUTE);
	p.now_ms += HOUR;
	(void)upkeep(&p, 0);
	CHECK_EQ(files_of(&p, "1.", ""), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK_EQ(fstat(fd, &st), 0);
	for (at = 0; at < st.st_size; at++) {
		_cleanup_(segment_freep) struct segment *s = NULL;
		uint8_t byte, bad;
		int r;

		CHECK_EQ(pread(fd, &byte, 1, at), 1);
		bad = byte ^ 0x10;
		CHECK_EQ(pwrite(fd, &bad, 1, at), 1);
		r = segment_open(path, &s, NULL);
		if (r == 0)
			r = segment_check(s, NULL);
		CHECK_EQ(r, -EBADMSG);
		if (at % 7 == 0) {
			_cleanup_(history_freep) struct history *h =
				read_window(&p, INT64_MIN, INT64_MAX);

			/* Totals are not needed for all windows, nor slices for this one. */
			CHECK(history_covers(h)->damaged ||
			      counted(h, "/usr/bin/0", NULL) == p.counted[0]);
		}
		CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
	}
	check_sums(&p);
}

static void a_damaged_file_costs_itself(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "history/flat.1.3-3"), *problem = NULL;
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	_cleanup_(history_freep) struct history *h = NULL;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct upkeep how = { 0 };
	unsigned int hour;

	for (hour = 0; hour < 23; hour++) {
		write_hour(&p, 10 * MINUTE);
		(void)upkeep(&p, 0);
	}
	CHECK(!history_check(p.dir, &history_flat, NULL));
	CHECK_EQ(truncate(path, 100), 0);
	problem = history_check(p.dir, &history_flat, NULL);
	CHECK(problem && strstr(problem, "flat.1.3-3: damaged") != NULL);
	for (; hour < 26; hour++)
		write_hour(&p, 10 * MINUTE);
	how.now_ms = p.now_ms;
	how.live = p.generation + 1;
	(void)history_upkeep(p.dir, &how, &log);
	CHECK(strstr(strbuf_text(&log), "flat.1.3-3 is damaged") != NULL);
	h = read_window(&p, INT64_MIN, INT64_MAX);
	CHECK_EQ(history_covers(h)->samples, 25 * 6 * 10);
}

static void what_cannot_be_read_is_not_damaged(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *history = path_join(dir, "history"), *problem = NULL;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct error err = ERROR_INIT;
	struct rlimit limit, none = { 0, 0 };

	write_hour(&p, 10 * MINUTE);
	(void)upkeep(&p, 0);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none.rlim_max = limit.rlim_max;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	problem = history_check(dir, &history_flat, &err);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	CHECK(!problem);
	CHECK_EQ(err.code, -EMFILE);
	CHECK(strstr(err.text, history) != NULL);
}

static void a_header_is_about_its_index(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "history/flat.1.1-1");
	_cleanup_(segment_freep) struct segment *s = NULL;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	_cleanup_close_ int fd = -1;
	struct segment_header h;

	write_hour(&p, 10 * MINUTE);
	(void)upkeep(&p, 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK_EQ(pread(fd, &h, sizeof(h), 0), sizeof(h));
	h.end_ms++;
	h.crc = (uint32_t)crc32_z(0, (const uint8_t *)&h.level,
				  sizeof(h) - offsetof(struct segment_header, level));
	CHECK_EQ(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	CHECK_EQ(segment_open(path, &s, NULL), -EBADMSG);
}

/* Lets all be rolled up, and notes what is said of it. */
static void upkeep_with_log(const struct past *p, struct strbuf *log)
{
	const struct upkeep how = { .now_ms = p->now_ms, .live = p->generation + 1 };

	(void)history_upkeep(p->dir, &how, log);
}

static void a_segment_without_slices_has_no_time(void)
{
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "history/1.slices");
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	const struct window always = { INT64_MIN, INT64_MAX };
	struct history_kept kept[HISTORY_LEVELS];
	struct window span;

	write_hour(&p, 10 * MINUTE);
	CHECK_EQ(truncate(path, 10), 0);
	upkeep_with_log(&p, &log);
	CHECK_EQ(files_of(&p, "flat.1.1-1", ""), 1);
	CHECK_EQ(history_span(dir, &always, &span, NULL), -ENOENT);
	CHECK_EQ(history_kept(dir, &history_flat, kept, NULL), 0);
	CHECK_EQ(kept[1].files, 0);
}

static void what_cannot_be_read_now_is_not_rolled_past(void)
{
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "history/1.slices"),
			    *other = path_join(dir, "slices");
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };

	write_hour(&p, 10 * MINUTE);
	CHECK_EQ(rename(path, other), 0);
	CHECK_EQ(symlink(other, path), 0);
	upkeep_with_log(&p, &log);
	CHECK_EQ(files_of(&p, "flat.", ""), 0);
	CHECK_EQ(rename(other, path), 0);
	(void)upkeep(&p, 0);
	CHECK_EQ(files_of(&p, "flat.1.1-1", ""), 1);
	check_sums(&p);
}

TESTS(T(a_kill_at_any_time_changes_no_sum), T(readers_see_each_sample_once),
      T(a_full_disk_changes_no_sum), T(nothing_goes_before_what_replaces_it_is_on_the_disk),
      T(a_segment_does_not_span_generations_that_another_one_has),
      T(names_without_slices_are_removed), T(damage_anywhere_is_noticed),
      T(a_damaged_file_costs_itself), T(what_cannot_be_read_is_not_damaged),
      T(a_header_is_about_its_index), T(a_segment_without_slices_has_no_time),
      T(what_cannot_be_read_now_is_not_rolled_past))
