/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "page_functions.h"
#include "test.h"

#include "base/log.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "history/history.h"
#include "history/history_check.h"
#include "history/history_kind.h"
#include "history/history_name.h"
#include "history/history_source.h"
#include "history/upkeep.h"
#include "profile/select/file_counts.h"
#include "profile/select/gather.h"
#include "profile/select/samples.h"
#include "sfile/idle.h"
#include "sfile/odb.h"
#include "sfile/session.h"
#include "sfile/sfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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
static struct strbuf upkeep_log(const struct session *s, int64_t now_ms)
{
	const struct upkeep how = { .now_ms = now_ms, .live = UINT32_MAX, .idle_ms = DAY_MS };
	struct strbuf log = STRBUF_INIT;

	(void)history_upkeep(s->samples, &how, &log);
	return log;
}

/* The same, and nothing fails. */
static void upkeep(const struct session *s, int64_t now_ms)
{
	_cleanup_(strbuf_done) struct strbuf log = upkeep_log(s, now_ms);

	CHECK_STR(strbuf_text(&log), "");
}

/* The same, and @what is said. */
static void upkeep_says(const struct session *s, int64_t now_ms, const char *what)
{
	_cleanup_(strbuf_done) struct strbuf log = upkeep_log(s, now_ms);

	CHECK(strstr(strbuf_text(&log), what) != NULL);
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

static void keep_line(enum log_level level, const char *text, void *data)
{
	(void)level;
	strbuf_adds(data, text);
}

/* Returns what is logged while no descriptor can be opened. */
static struct strbuf log_without_descriptors(void (*run)(void *data), void *data)
{
	struct strbuf log = STRBUF_INIT;
	struct rlimit was, none;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit){ 0, was.rlim_max };
	log_to(LOG_LEVEL_WARNING, keep_line, &log);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	run(data);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &was), 0);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	return log;
}

static void open_counts(void *path)
{
	const struct gather_file file = { .path = path };
	struct file_counts *c;

	CHECK_EQ(file_counts_open(&file, &c, NULL), -EMFILE);
}

static void list_sources(void *samples)
{
	_cleanup_free_ char *dir = path_join(samples, HISTORY_DIRECTORY);
	struct history_source *list = NULL;
	struct error err = ERROR_INIT;
	size_t count;

	CHECK_EQ(sources_list(dir, &history_flat, &list, &count, &err), -EMFILE);
	CHECK(!list);
	log_warn("%s", err.text);
}

static void what_cannot_be_opened_is_named(void)
{
	_cleanup_(strbuf_done) struct strbuf file = STRBUF_INIT, list = STRBUF_INIT;
	_cleanup_free_ char *path = NULL;
	struct session s;

	make(&s);
	count(&s, 1, 0x1000, 1);
	path = file_path(&s, 1);
	file = log_without_descriptors(open_counts, path);
	CHECK(strstr(strbuf_text(&file), path) != NULL);
	list = log_without_descriptors(list_sources, s.samples);
	CHECK(strstr(strbuf_text(&list), "/" HISTORY_DIRECTORY ": ") != NULL);
	done(&s);
}

static void tend(void *samples)
{
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	const struct upkeep how = { .idle_ms = 1, .now_ms = LATER_MS, .live = 100 };

	CHECK_EQ(history_upkeep(samples, &how, &log), -EMFILE);
	log_warn("%s", strbuf_text(&log));
}

/* A batch that got the number of one that is in the sum would be removed. */
static void what_cannot_be_listed_is_neither_merged_nor_moved(void)
{
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	struct session s;

	make(&s);
	count_all(&s);
	upkeep(&s, LATER_MS);
	log = log_without_descriptors(tend, s.samples);
	CHECK(strstr(strbuf_text(&log), "/" HISTORY_DIRECTORY ": ") != NULL);
	CHECK(strstr(strbuf_text(&log), "cannot add up the sample files in ") != NULL);
	CHECK(strstr(strbuf_text(&log), "cannot move idle sample files of ") != NULL);
	CHECK(exists(&s, SESSION_IDLE "/1.files"));
	CHECK_EQ(sum_of(&s, NULL), s.total);
	done(&s);
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
	CHECK(!history_check(s.samples, &history_flat, NULL));
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
	CHECK(!history_check(s.samples, &history_flat, NULL));
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

/* Writes a byte of 0xff into the file @below the session, at @at, or cuts it there. */
static void damage(const struct session *s, const char *below, off_t at, bool cut)
{
	_cleanup_free_ char *path = path_join(s->samples, below);
	_cleanup_close_ int fd = open(path, O_WRONLY);

	if (cut)
		CHECK_EQ(ftruncate(fd, at), 0);
	else
		CHECK_EQ(pwrite(fd, "\xff", 1, at), 1);
}

static off_t size_of(const struct session *s, const char *below)
{
	_cleanup_free_ char *path = path_join(s->samples, below);
	struct stat st;

	CHECK_EQ(stat(path, &st), 0);
	return st.st_size;
}

static void a_damaged_segment_is_made_again(void)
{
	static const char segment[] = SESSION_IDLE "/flat.3.1-1";
	struct session s;
	off_t at;

	make(&s);
	count_all(&s);
	upkeep(&s, LATER_MS);
	upkeep(&s, window_now_ms());
	for (at = size_of(&s, segment) - 64; at < size_of(&s, segment); at++)
		damage(&s, segment, at, false);
	count(&s, 7, 0x1001, 100);
	upkeep_says(&s, LATER_MS, "is damaged; moved to");
	CHECK(exists(&s, SESSION_IDLE "/" IDLE_DAMAGED "/flat.3.1-1"));
	CHECK(exists(&s, SESSION_IDLE "/1.files"));
	CHECK_EQ(sum_of(&s, NULL), s.total);
	upkeep(&s, LATER_MS);
	upkeep(&s, LATER_MS);
	CHECK(exists(&s, SESSION_IDLE "/flat.3.1-2"));
	CHECK(!exists(&s, SESSION_IDLE "/1.files"));
	CHECK_EQ(sum_of(&s, NULL), s.total);
	done(&s);
}

#define FILE_3	 "/1.files/{root}/opt/3/program/{dep}/{root}/opt/3/program/TIMER.0.0.all.all.all"
#define IN_BATCH SESSION_IDLE FILE_3
#define APART	 SESSION_IDLE "/" IDLE_DAMAGED FILE_3

static void a_damaged_file_is_repaired(void)
{
	struct session s;
	off_t size;

	make(&s);
	count_all(&s);
	upkeep(&s, LATER_MS);
	size = size_of(&s, IN_BATCH);
	damage(&s, IN_BATCH, size - 1, true);
	upkeep(&s, window_now_ms());
	CHECK_EQ(size_of(&s, IN_BATCH), size);
	upkeep(&s, window_now_ms());
	CHECK(!exists(&s, SESSION_IDLE "/1.files"));
	CHECK_EQ(sum_of(&s, NULL), s.total);
	done(&s);
}

static void a_damaged_file_that_cannot_be_repaired_is_set_apart(void)
{
	char *found = NULL;
	struct session s;

	make(&s);
	count_all(&s);
	upkeep(&s, LATER_MS);
	damage(&s, IN_BATCH, 10, true);
	upkeep_says(&s, window_now_ms(), "TIMER.0.0.all.all.all is damaged; moved to ");
	CHECK_EQ(sum_of(&s, NULL), s.total - 4);
	upkeep(&s, window_now_ms());
	CHECK(!exists(&s, SESSION_IDLE "/1.files"));
	CHECK(exists(&s, APART));
	CHECK_EQ(sum_of(&s, NULL), s.total - 4);
	found = history_check(s.samples, &history_flat, NULL);
	CHECK(found && strstr(found, "idle/" IDLE_DAMAGED ": 1 file, whose samples are lost"));
	free(found);
	/* The rest goes on. */
	count(&s, 7, 0x1001, 100);
	upkeep(&s, LATER_MS);
	upkeep(&s, LATER_MS);
	CHECK(exists(&s, SESSION_IDLE "/flat.3.1-2"));
	CHECK_EQ(sum_of(&s, NULL), s.total - 4);
	done(&s);
}

static void only_sample_files_without_arcs_move(void)
{
	static const char *const stay[] = {
		"{root}/opt/0/program/{dep}/{root}/opt/0/program/{cg}/{root}/opt/1/program/"
		"TIMER.0.0.all.all.all",
		"{root}/opt/notes",
	};
	struct session s;
	size_t i;

	make(&s);
	count_all(&s);
	for (i = 0; i < ARRAY_SIZE(stay); i++) {
		_cleanup_free_ char *path = path_join(s.samples, stay[i]);

		CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
		CHECK_EQ(path_write(path, "", 0644, NULL), 0);
	}
	upkeep(&s, LATER_MS);
	CHECK(exists(&s, IN_BATCH));
	for (i = 0; i < ARRAY_SIZE(stay); i++)
		CHECK(exists(&s, stay[i]));
	done(&s);
}

static void a_session_exists_while_all_its_files_are_idle(void)
{
	struct session s;

	make(&s);
	CHECK(!session_exists(s.dir, "current"));
	count_all(&s);
	CHECK(session_exists(s.dir, "current"));
	upkeep(&s, LATER_MS);
	CHECK(!exists(&s, "{root}"));
	CHECK(session_exists(s.dir, "current"));
	done(&s);
}

static int no_file(const char *path _unused_, const struct sname *name _unused_,
		   void *data _unused_)
{
	return -EEXIST;
}

static void keep_error(const char *path _unused_, const struct error *why, void *data)
{
	*(struct error *)data = *why;
}

static void a_directory_that_cannot_be_read_is_named(void)
{
	_cleanup_free_ char *idle = NULL;
	struct error err = ERROR_INIT, sum = ERROR_INIT;
	struct rlimit limit, none = { 0, 0 };
	struct history *h = NULL;
	struct session s;
	uint32_t last;

	make(&s);
	idle = path_join(s.samples, SESSION_IDLE);
	CHECK_EQ(idle_walk(s.samples, 0, no_file, keep_error, &err, NULL), 0);
	CHECK_EQ(err.code, 0); /* there is none */
	CHECK_EQ(history_read_idle(s.samples, &h, &last, &err), 0);
	CHECK_EQ(mkdir(idle, 0755), 0);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none.rlim_max = limit.rlim_max;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	CHECK_EQ(idle_walk(s.samples, 0, no_file, keep_error, &err, NULL), 0);
	CHECK_EQ(history_read_idle(s.samples, &h, &last, &sum), -EMFILE);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	CHECK_EQ(err.code, -EMFILE);
	CHECK(strstr(err.text, idle) != NULL);
	CHECK_STR(sum.text, err.text);
	CHECK(!h && !last);
	done(&s);
}

/* The samples of the only file that have an offset. */
static uint64_t samples_at(const struct session *s, bool at_functions, uint64_t offset)
{
	_cleanup_(file_counts_closep) struct file_counts *c = NULL;
	_cleanup_(samples_done) struct samples found = SAMPLES_INIT;
	_cleanup_(gather_freep) struct gather *g = NULL;
	struct spec spec;
	uint64_t sum = 0;
	size_t i;

	CHECK_EQ(spec_parse(NULL, 0, &spec, NULL), 0);
	CHECK_EQ(gather_files(&spec, s->dir, false, &g, NULL), 0);
	CHECK_EQ(g->file_count, 1);
	CHECK_EQ(file_counts_open(&g->files[0], &c, NULL), 0);
	if (at_functions)
		file_counts_at_functions(c);
	CHECK_EQ(file_counts_read(c, 0, &found), s->total);
	for (i = 0; i < found.count; i++)
		sum += found.samples[i].offset == offset ? found.samples[i].count : 0;
	spec_done(&spec);
	return sum;
}

/* A segment keeps what has 500 samples: the first of two functions, but none of its places. */
static void rare_places_are_folded_into_functions(void)
{
	const struct upkeep how = { .now_ms = LATER_MS,
				    .live = UINT32_MAX,
				    .idle_ms = DAY_MS,
				    .functions = &page_functions };
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	struct session s;
	unsigned int i;

	make(&s);
	count(&s, 0, 0x100, 100000000);
	for (i = 0; i < 100; i++)
		count(&s, 0, 0x1000 + i, 6);
	count(&s, 0, 0x5000, 1);
	/* They are moved, then merged. */
	CHECK(history_upkeep(s.samples, &how, &log) >= 0);
	CHECK_EQ(samples_at(&s, true, 0x1000), 6);
	CHECK(history_upkeep(s.samples, &how, &log) >= 0);
	CHECK_EQ(samples_at(&s, true, 0x1000), 600);
	CHECK_EQ(samples_at(&s, true, SAMPLE_RARE), 1);
	CHECK_EQ(samples_at(&s, false, 0x1000), 0);
	CHECK_EQ(samples_at(&s, false, SAMPLE_RARE), 601);
	CHECK_STR(strbuf_text(&log), "");
	done(&s);
}

TESTS(T(rare_places_are_folded_into_functions), T(what_cannot_be_opened_is_named),
      T(what_cannot_be_listed_is_neither_merged_nor_moved),
      T(files_not_used_for_long_go_away_and_still_count), T(a_kill_at_any_time_changes_no_sum),
      T(a_reader_sees_each_sample_once), T(a_damaged_segment_is_made_again),
      T(a_damaged_file_is_repaired), T(a_damaged_file_that_cannot_be_repaired_is_set_apart),
      T(only_sample_files_without_arcs_move), T(a_session_exists_while_all_its_files_are_idle),
      T(a_directory_that_cannot_be_read_is_named))
