/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "history/history.h"
#include "history/history_check.h"
#include "history/history_kind.h"
#include "history/history_writer.h"
#include "history/segment.h"
#include "history/internal/segment_format.h"
#include "history/segment_tree.h"
#include "history/levels.h"
#include "history/upkeep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

enum { PROGRAMS = 5, SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

/* A midnight; the clock of these tests is not that of the machine. */
#define BEGIN_MS INT64_C(1767225600000)
#define DAY	 (24 * INT64_C(3600000))

struct past {
	char *dir;
	int64_t now_ms;
	uint32_t generation;
	uint64_t counted[PROGRAMS]; /* in all */
};

static struct history_name name_of(const char *path)
{
	struct history_name n = { .name = { .event = "TIMER", .task = SNAME_TASK_ALL } };

	n.name.app = n.name.image = (struct sname_image){ .kind = SNAME_ROOT, .name = path };
	return n;
}

static void count(struct past *p, struct history_writer *h, unsigned int program, uint64_t key)
{
	_cleanup_free_ char *path = xasprintf("/usr/bin/%u", program);
	struct history_name name = name_of(path);
	uint64_t samples = 1 + key % 7;

	history_writer_count(h, history_writer_file(h, &name), key, samples);
	p->counted[program] += samples;
}

/* Writes an hour with a slice each @step_ms, in a generation of its own. */
static void write_hour(struct past *p, int64_t step_ms)
{
	_cleanup_(history_writer_freep) struct history_writer *h = history_writer_new(p->dir);
	_cleanup_free_ char *file = NULL;
	int64_t at;

	for (at = p->now_ms; at < p->now_ms + HOUR; at += step_ms) {
		struct slice s = {
			{ at, at + 10 * SECOND }, .samples = 10, .taken = 5, .cpu_ms = 20
		};

		count(p, h, (unsigned int)(at / step_ms) % PROGRAMS, (uint64_t)(at / step_ms) % 40);
		count(p, h, (unsigned int)(at / HOUR) % PROGRAMS, 7);
		CHECK_EQ(history_writer_end(h, &s, NULL), 0);
		p->generation = history_writer_generation(h);
	}
	p->now_ms += HOUR;
	file = xasprintf("%s/history/%u.slices", p->dir, p->generation);
	CHECK_EQ(utimensat(AT_FDCWD, file,
			   (struct timespec[2]){ { p->now_ms / 1000, 0 }, { p->now_ms / 1000, 0 } },
			   0),
		 0);
}

static int upkeep(const struct past *p, uint64_t bytes_max)
{
	const struct upkeep how = { .now_ms = p->now_ms,
				    .bytes_max = bytes_max,
				    .live = p->generation + 1 };
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	int n = history_upkeep(p->dir, &how, &log);

	if (!bytes_max)
		CHECK_STR(strbuf_text(&log), "");
	return n;
}

static struct history *read_window(const struct past *p, int64_t begin_ms, int64_t end_ms)
{
	struct history *h = NULL;

	CHECK_EQ(history_read(p->dir, &(struct window){ begin_ms, end_ms }, NULL, &h, NULL), 0);
	return h;
}

/* The counts of a program, or of one key of it. */
static uint64_t counted(const struct history *h, const char *path, const uint64_t *key)
{
	uint64_t sum = 0;
	size_t i, k;

	for (i = 0; i < history_files(h); i++) {
		const struct history_file *f = history_file_at(h, i);

		for (k = 0; k < f->count && !strcmp(f->about.name.image.name, path); k++)
			sum += !key || f->counts[k].key == *key ? f->counts[k].count : 0;
	}
	return sum;
}

static void check_sums(const struct past *p)
{
	_cleanup_(history_freep) struct history *h = read_window(p, INT64_MIN, INT64_MAX);
	unsigned int i;

	for (i = 0; i < PROGRAMS; i++) {
		_cleanup_free_ char *path = xasprintf("/usr/bin/%u", i);

		CHECK_EQ(counted(h, path, NULL), p->counted[i]);
	}
	CHECK_EQ(history_covers(h)->damaged, 0);
	CHECK_EQ(history_covers(h)->folded, 0);
}

/* How many files of a level there are. */
static unsigned int files_of(const struct past *p, const char *prefix, const char *suffix)
{
	_cleanup_free_ char *path = path_join(p->dir, "history");
	DIR *d = opendir(path);
	struct dirent *e;
	unsigned int n = 0;

	while ((e = readdir(d)))
		n += strncmp(e->d_name, prefix, strlen(prefix)) == 0 &&
		     strlen(e->d_name) >= strlen(suffix) &&
		     !strcmp(e->d_name + strlen(e->d_name) - strlen(suffix), suffix);
	(void)closedir(d);
	return n;
}

static uint64_t bytes_of(const struct past *p)
{
	_cleanup_free_ char *path = path_join(p->dir, "history");
	DIR *d = opendir(path);
	struct dirent *e;
	uint64_t sum = 0;
	struct stat st;

	while ((e = readdir(d)))
		if (fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
			sum += (uint64_t)st.st_size;
	(void)closedir(d);
	return sum;
}

static void sums_stay_exact_while_levels_change(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 24 * 8 + 8; hour++) {
		write_hour(&p, 15 * MINUTE);
		(void)upkeep(&p, 0);
		if (hour % 12 == 5)
			check_sums(&p);
	}
	check_sums(&p);
	CHECK_EQ(files_of(&p, "", ".slices"), 2);
	CHECK_EQ(files_of(&p, "flat.1.", ""), 25);
	CHECK_EQ(files_of(&p, "flat.2.", ""), 8);
	CHECK_EQ(files_of(&p, "flat.3.", ""), 1);
	CHECK_EQ(files_of(&p, "roll", ""), 0);
}

static void a_window_has_the_finest_level_there_is(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *old = NULL, *fresh = NULL, *all = NULL;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 50; hour++) {
		write_hour(&p, MINUTE);
		(void)upkeep(&p, 0);
	}
	/* Two days ago there are slices of ten minutes: two of them meet the window. */
	old = read_window(&p, BEGIN_MS + 8 * MINUTE, BEGIN_MS + 13 * MINUTE);
	CHECK_EQ(history_covers(old)->slices, 2);
	CHECK_EQ(history_covers(old)->by_level[2], 2);
	CHECK_EQ(history_covers(old)->samples, 200);
	CHECK_EQ(history_covers(old)->span.begin_ms, BEGIN_MS);
	CHECK_EQ(history_covers(old)->span.end_ms, BEGIN_MS + 19 * MINUTE + 10 * SECOND);
	/* Of each minute, ten seconds are covered. */
	CHECK_EQ(history_covers(old)->gaps_ms, 19 * 50 * SECOND);
	fresh = read_window(&p, p.now_ms - 13 * MINUTE, p.now_ms - 10 * MINUTE);
	CHECK_EQ(history_covers(fresh)->by_level[0], 3);
	CHECK_EQ(history_covers(fresh)->slices, 3);
	all = read_window(&p, INT64_MIN, INT64_MAX);
	CHECK_EQ(history_covers(all)->samples, 50 * 60 * 10);
	CHECK_EQ(history_covers(all)->taken, 50 * 60 * 5);
	CHECK_EQ(history_covers(all)->cpu_ms, 50 * 60 * 20);
	CHECK_EQ(history_covers(all)->gaps_ms, (50 * 60 - 1) * 50 * SECOND);
}

/* A window of eight days or more takes the days in it as wholes, also one whose hours are still
 * there; what is left of it, from finer levels. */
static void a_long_window_has_whole_days(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *all = NULL, *day = NULL;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 9 * 24 + 3; hour++)
		write_hour(&p, 20 * MINUTE);
	CHECK(upkeep(&p, 0) > 0);
	all = read_window(&p, BEGIN_MS + HOUR, p.now_ms);
	CHECK_EQ(history_covers(all)->by_level[2], 9 * 72 - 3);
	CHECK_EQ(history_covers(all)->by_level[1] + history_covers(all)->by_level[0], 9);
	CHECK_EQ(history_covers(all)->samples, 10 * (9 * 72 - 3 + 9));
	day = read_window(&p, BEGIN_MS + 8 * DAY, BEGIN_MS + 9 * DAY);
	CHECK(history_covers(day)->by_level[1] >= 60);
	check_sums(&p);
}

/* Steps of whole hours are read from the level of hours, with the same sums; steps of a minute, or
 * from half past on, are not. */
static void steps_have_the_coarsest_level_that_fits(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	const struct {
		int64_t length_ms, before_ms;
		bool by_hours;
	} rows[] = {
		{ HOUR, 0, true },
		{ HOUR, 30 * MINUTE, false },
		{ MINUTE, 0, false },
	};
	size_t i, k, hour;

	for (hour = 0; hour < 9 * 24; hour++)
		write_hour(&p, 20 * MINUTE);
	CHECK(upkeep(&p, 0) > 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const int64_t begin_ms = BEGIN_MS - rows[i].before_ms;
		const struct steps steps = { begin_ms, rows[i].length_ms,
					     (uint32_t)((p.now_ms - begin_ms) / rows[i].length_ms) +
						     1 };
		const struct window all = WINDOW_ALL;
		_cleanup_(history_freep) struct history *h = NULL;

		CHECK_EQ(history_read(p.dir, &all, &steps, &h, NULL), 0);
		CHECK((history_covers(h)->by_level[3] > 0) == rows[i].by_hours);
		CHECK_EQ(history_covers(h)->samples, UINT64_C(10) * 3 * 9 * 24);
		for (k = 0; k < PROGRAMS; k++) {
			_cleanup_free_ char *path = xasprintf("/usr/bin/%zu", k);

			CHECK_EQ(counted(h, path, NULL), p.counted[k]);
		}
	}
}

/* An hour, in two generations if @twice. */
static void write_first_hour(struct past *p, bool twice)
{
	write_hour(p, 10 * MINUTE);
	if (twice) {
		p->now_ms -= HOUR;
		write_hour(p, 10 * MINUTE);
	}
	CHECK(upkeep(p, 0) > 0);
}

/* Segments of one level are read at the same time. If two have the same generation, it counts
 * once. */
static void segments_that_overlap_count_once(void)
{
	_cleanup_directory_ char *dir = test_directory(), *other = test_directory();
	_cleanup_free_ char *from = xasprintf("%s/history/flat.1.1-2", other);
	_cleanup_free_ char *to = xasprintf("%s/history/flat.1.1-2", dir);
	_cleanup_free_ char *slices = xasprintf("%s/history/1.slices", dir);
	struct past one = { .dir = dir, .now_ms = BEGIN_MS };
	struct past two = { .dir = other, .now_ms = BEGIN_MS };
	_cleanup_(history_freep) struct history *h = NULL;
	unsigned int i;

	write_first_hour(&one, false);
	write_first_hour(&two, true);
	CHECK_EQ(files_of(&one, "flat.1.1-1", ""), 1);
	CHECK_EQ(rename(from, to), 0);
	CHECK_EQ(unlink(slices), 0);
	h = read_window(&one, INT64_MIN, INT64_MAX);
	for (i = 0; i < PROGRAMS; i++) {
		_cleanup_free_ char *path = xasprintf("/usr/bin/%u", i);

		CHECK_EQ(counted(h, path, NULL), two.counted[i]);
	}
	CHECK_EQ(history_covers(h)->by_level[1], 12);
}

/* The clock is set back by hours, twice. */
static void a_clock_that_is_set_back_loses_nothing(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 100; hour++) {
		write_hour(&p, 10 * MINUTE);
		if (hour == 30 || hour == 60)
			p.now_ms -= 5 * HOUR;
		(void)upkeep(&p, 0);
		if (hour >= 30)
			check_sums(&p);
	}
}

static void the_oldest_of_the_finest_go_first(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct upkeep how = { .bytes_max = 1 };
	unsigned int hour, fine;

	for (hour = 0; hour < 72; hour++) {
		write_hour(&p, 10 * MINUTE);
		(void)upkeep(&p, 0);
	}
	p.now_ms += HOUR;
	CHECK_EQ(upkeep(&p, 0), 0);
	fine = files_of(&p, "flat.1.", "");
	CHECK(fine >= 24);
	how.now_ms = p.now_ms;
	how.live = p.generation + 1;
	how.bytes_max = bytes_of(&p) - 1;
	(void)history_upkeep(p.dir, &how, &log);
	CHECK(strstr(strbuf_text(&log), "--max-history") != NULL);
	CHECK_EQ(files_of(&p, "", ".slices"), 0);
	CHECK_EQ(files_of(&p, "flat.1.", ""), fine);
	how.bytes_max = bytes_of(&p) - 1;
	(void)history_upkeep(p.dir, &how, &log);
	CHECK_EQ(files_of(&p, "flat.1.", ""), fine - 1);
	CHECK_EQ(files_of(&p, "flat.2.", ""), 3);
	check_sums(&p);
	how.bytes_max = 1;
	(void)history_upkeep(p.dir, &how, &log);
	CHECK_EQ(files_of(&p, "", ".slices"), 0);
	CHECK_EQ(files_of(&p, "flat.", ""), 0);
	/* The live one stays. */
	write_hour(&p, 10 * MINUTE);
	how.live = p.generation;
	(void)history_upkeep(p.dir, &how, &log);
	CHECK_EQ(files_of(&p, "", ".slices"), 1);
}

static void old_files_are_deleted(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	_cleanup_(history_freep) struct history *h = NULL;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct upkeep how = { .keep_ms = 2 * DAY };
	unsigned int hour;

	for (hour = 0; hour < 24 * 5; hour++) {
		write_hour(&p, 10 * MINUTE);
		how.now_ms = p.now_ms;
		how.live = p.generation + 1;
		(void)history_upkeep(p.dir, &how, &log);
	}
	h = read_window(&p, INT64_MIN, INT64_MAX);
	CHECK(history_covers(h)->span.begin_ms >= p.now_ms - 4 * DAY);
	CHECK(history_covers(h)->span.begin_ms <= p.now_ms - 2 * DAY);
}

/* --- interruptions --- */

/* Kills the upkeep at a random time, again and again; returns how often it was killed. */
static unsigned int kill_upkeep(const struct past *p, unsigned int times)
{
	unsigned int killed = 0, i;

	for (i = 0; i < times; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			(void)upkeep(p, 0);
			_exit(0);
		}
		(void)usleep((useconds_t)(rand() % 3000));
		(void)kill(pid, SIGKILL);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		killed += WIFSIGNALED(status);
		check_sums(p);
	}
	return killed;
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
			killed += kill_upkeep(&p, 16);
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
	CHECK(!history_check(p.dir, &history_flat));
	CHECK_EQ(truncate(path, 100), 0);
	problem = history_check(p.dir, &history_flat);
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
	history_kept(dir, &history_flat, kept);
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

/* --- folding --- */

static char *to_other(const char *line, unsigned int rung, bool *ret_same)
{
	*ret_same = rung == 0 && !strcmp(line, "rare libc");
	if (!strncmp(line, "rare ", 5) && rung == 0)
		return xstrdup(*ret_same ? "other libc" : "other");
	return !strcmp(line, "other libc") && rung == 1 ? xstrdup("other") : NULL;
}

static uint32_t add(struct segment_tree *t, const char *line, uint64_t key, uint64_t samples)
{
	uint32_t number = segment_tree_line(t, line);
	uint32_t node = segment_tree_node(t, segment_tree_node(t, 0, number, 0), number, key);

	segment_tree_count(t, node, samples);
	return node;
}

static void rare_keys_fold_into_their_file(void)
{
	const struct segment_folding how = { 10, to_other };
	struct segment_tree t;
	_cleanup_free_ uint32_t *to = NULL;
	uint32_t hot, cold, colder, lost, libc, none;

	segment_tree_init(&t);
	hot = add(&t, "hot", 1, 100);
	cold = add(&t, "hot", 2, 9);
	colder = add(&t, "hot", 3, 1);
	lost = add(&t, "rare a", 1, 5);
	libc = add(&t, "rare libc", 77, 4);
	(void)add(&t, "other libc", 77, 8);
	none = add(&t, "none", 1, 0);
	to = segment_tree_fold(&t, &how);
	CHECK_EQ(to[hot], hot);
	CHECK_EQ(to[cold], to[colder]);
	CHECK_EQ(t.nodes[to[cold]].key, SEGMENT_RARE);
	CHECK_EQ(t.nodes[to[cold]].parent, t.nodes[hot].parent);
	CHECK_EQ(t.nodes[to[lost]].key, SEGMENT_RARE);
	CHECK_STR(t.lines[t.nodes[to[lost]].line], "other");
	/* Rare programs together are not rare in what they share. */
	CHECK_STR(t.lines[t.nodes[to[libc]].line], "other libc");
	CHECK_EQ(t.nodes[to[libc]].key, 77);
	CHECK_EQ(to[none], 0);
	segment_tree_done(&t);
}

TESTS(T(sums_stay_exact_while_levels_change), T(a_window_has_the_finest_level_there_is),
      T(steps_have_the_coarsest_level_that_fits), T(a_long_window_has_whole_days),
      T(segments_that_overlap_count_once), T(a_clock_that_is_set_back_loses_nothing),
      T(the_oldest_of_the_finest_go_first), T(old_files_are_deleted),
      T(a_kill_at_any_time_changes_no_sum), T(readers_see_each_sample_once),
      T(a_full_disk_changes_no_sum), T(a_segment_does_not_span_generations_that_another_one_has),
      T(names_without_slices_are_removed), T(damage_anywhere_is_noticed),
      T(a_damaged_file_costs_itself), T(a_header_is_about_its_index),
      T(a_segment_without_slices_has_no_time), T(what_cannot_be_read_now_is_not_rolled_past),
      T(rare_keys_fold_into_their_file))
