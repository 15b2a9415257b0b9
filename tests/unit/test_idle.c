/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/strbuf.h"
#include "history/history_check.h"
#include "history/upkeep.h"
#include "profile/select/file_counts.h"
#include "profile/select/gather.h"
#include "sfile/idle.h"
#include "sfile/odb.h"
#include "sfile/session.h"
#include "sfile/sfile.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 20, DAY_MS = 24 * 3600 * 1000 };

/* A time at which nothing of these tests has been written for a day. */
#define LATER_MS ((int64_t)(window_now_ms() + 2 * INT64_C(86400000)))

struct session {
	char *dir, *samples;
	uint64_t total;
};

static void make(struct session *s)
{
	s->dir = test_directory();
	CHECK_EQ(session_create(s->dir, "current", NULL), 0);
	s->samples = session_samples(s->dir, "current");
	s->total = 0;
}

static void done(struct session *s)
{
	test_directory_donep(&s->dir);
	free(s->samples);
}

static char *file_path(const struct session *s, unsigned int i)
{
	return xasprintf("%s/{root}/opt/%u/program/{dep}/{root}/opt/%u/program/"
			 "TIMER.0.0.all.all.all",
			 s->samples, i, i);
}

/* Counts in file number @i, which is created if it is not there. */
static void count(struct session *s, unsigned int i, uint64_t key, uint32_t samples)
{
	const struct sfile_header header = { .cpu_type = 4, .event = 0 };
	_cleanup_free_ char *path = file_path(s, i);
	_cleanup_(sfile_closep) struct sfile *sf = NULL;

	CHECK_EQ(sfile_create(path, &header, &sf, NULL), 0);
	CHECK_EQ(odb_add(sfile_odb(sf), key, samples), 0);
	s->total += samples;
}

static void count_all(struct session *s)
{
	unsigned int i;

	for (i = 0; i < FILES; i++)
		count(s, i, 0x1000 + i % 3, 1 + i);
}

/* Lets what was not written since then go to idle/. */
static void upkeep(const struct session *s, int64_t now_ms)
{
	const struct upkeep how = { .now_ms = now_ms, .live = UINT32_MAX, .idle_ms = DAY_MS };
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;

	(void)history_upkeep(s->samples, &how, &log);
	CHECK_STR(strbuf_text(&log), "");
}

/* What a report of the whole session adds up to. */
static uint64_t sum_of(const struct session *s, const char *path)
{
	char *word = path ? xasprintf("image:%s", path) : NULL;
	_cleanup_(gather_freep) struct gather *g = NULL;
	struct spec spec;
	uint64_t sum = 0;
	size_t i;

	CHECK_EQ(spec_parse(&word, word != NULL, &spec, NULL), 0);
	CHECK_EQ(gather_files(&spec, s->dir, false, &g, NULL), 0);
	for (i = 0; i < g->file_count; i++) {
		_cleanup_(file_counts_closep) struct file_counts *c = NULL;

		CHECK_EQ(file_counts_open(&g->files[i], &c, NULL), 0);
		sum += file_counts_sum(c);
	}
	spec_done(&spec);
	free(word);
	return sum;
}

static bool exists(const struct session *s, const char *below)
{
	_cleanup_free_ char *path = path_join(s->samples, below);

	return access(path, F_OK) == 0;
}

static void files_not_used_for_long_go_away_and_still_count(void)
{
	struct session s;

	make(&s);
	count_all(&s);
	upkeep(&s, window_now_ms());
	CHECK(exists(&s, "{root}/opt/7/program"));
	CHECK(!exists(&s, SESSION_IDLE));

	upkeep(&s, LATER_MS);
	CHECK(!exists(&s, "{root}"));
	CHECK(exists(&s, SESSION_IDLE "/1.files"));
	CHECK_EQ(sum_of(&s, NULL), s.total);
	count(&s, 7, 0x1001, 100); /* one comes back */
	CHECK_EQ(sum_of(&s, NULL), s.total);
	CHECK_EQ(sum_of(&s, "/opt/7/program"), 108);

	upkeep(&s, window_now_ms());
	CHECK(exists(&s, SESSION_IDLE "/flat.3.1-1"));
	CHECK_EQ(sum_of(&s, NULL), s.total);
	upkeep(&s, LATER_MS);
	CHECK(!exists(&s, SESSION_IDLE "/1.files"));
	upkeep(&s, LATER_MS);
	upkeep(&s, LATER_MS);
	CHECK(exists(&s, SESSION_IDLE "/flat.3.1-2"));
	CHECK(!exists(&s, SESSION_IDLE "/flat.3.1-1"));
	CHECK(!exists(&s, SESSION_IDLE "/2.files"));
	CHECK_EQ(sum_of(&s, NULL), s.total);
	CHECK_EQ(sum_of(&s, "/opt/7/program"), 108);
	CHECK(!history_check(s.samples));
	done(&s);
}

/* Does the upkeep again and again, until it is killed. */
static pid_t keep(const struct session *s)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	for (;;)
		upkeep(s, LATER_MS);
}

static void end(pid_t pid)
{
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

static void a_kill_at_any_time_changes_no_sum(void)
{
	struct session s;
	unsigned int i;

	make(&s);
	for (i = 0; i < 25; i++) {
		pid_t pid;

		count_all(&s);
		pid = keep(&s);
		(void)usleep(i * 511 % 9000);
		end(pid);
		CHECK_EQ(sum_of(&s, NULL), s.total);
	}
	CHECK(!history_check(s.samples));
	done(&s);
}

/* Files are moved, merged and removed at the pace of a writer that closes all of them in between,
 * while a reader reads. */
static void a_reader_sees_each_sample_once(void)
{
	struct session s;
	unsigned int i, k;

	make(&s);
	for (i = 0; i < 8; i++) {
		pid_t pid;

		count_all(&s);
		pid = fork();
		if (!pid) {
			upkeep(&s, LATER_MS);
			_exit(0);
		}
		for (k = 0; k < 3; k++)
			CHECK_EQ(sum_of(&s, NULL), s.total);
		CHECK_EQ(waitpid(pid, NULL, 0), pid);
		CHECK_EQ(sum_of(&s, NULL), s.total);
	}
	done(&s);
}

TESTS(T(files_not_used_for_long_go_away_and_still_count), T(a_kill_at_any_time_changes_no_sum),
      T(a_reader_sees_each_sample_once))
