/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_history DIR DAYS: simulates the history of a busy machine with 2 CPUs at 99 Hz, and prints
 * how large it becomes, what rolling it up costs, and how long queries take. Its slices are of one
 * minute, which saves most of the time; only level 0 is smaller for it. How many different places a
 * time has is as measured on a machine that compiles and tests (11,500 samples and 2,700 places a
 * minute), and each hour has 1,260 programs that are never seen again.
 */
#include "base/error.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "history/history.h"
#include "history/history_writer.h"
#include "history/upkeep.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

enum {
	MINUTE_MS = 60 * 1000,
	HOUR_MS = 60 * MINUTE_MS,
	SAMPLES = 11000,
	GROUPS = 64,	/* of places, each with a long tail of its own */
	PROGRAMS = 800, /* that stay */
	NEW = 21,	/* programs a minute */
};

static const int64_t begin_ms = INT64_C(1767225600000);

static double cpu_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static uint32_t file_of(struct history_writer *h, const char *app, const char *image)
{
	struct history_name name = { .name = { .event = "TIMER", .task = SNAME_TASK_ALL } };

	name.name.app = (struct sname_image){ .kind = SNAME_ROOT, .name = app };
	name.name.image = (struct sname_image){ .kind = SNAME_ROOT, .name = image };
	return history_writer_file(h, &name);
}

/* A place among many: the one with number k is hit in proportion to k to the power of -1.5. */
static uint64_t place(void)
{
	double u = drand48();

	return (uint64_t)fmin(1 / (u * u + 1e-12), 1e12);
}

static void count_programs(struct history_writer *h, const uint32_t *files)
{
	int i;

	for (i = 0; i < SAMPLES; i++) {
		uint64_t k = place(), group = (uint64_t)lrand48() % GROUPS;
		uint64_t program = (k * GROUPS + group) % PROGRAMS;

		history_writer_count(h, files[program], (k * GROUPS + group) * 16, 1);
	}
}

static void count_new(struct history_writer *h, int64_t minute)
{
	int i, k;

	for (i = 0; i < NEW; i++) {
		_cleanup_free_ char *app =
			xasprintf("/tmp/build/%" PRId64 "/conftest%d", minute, i);
		uint32_t own = file_of(h, app, app), libc = file_of(h, app, "/usr/lib/libc.so.6");

		for (k = 0; k < 10; k++)
			history_writer_count(h, own, 0x1000 + (uint64_t)lrand48() % 64 * 16, 1);
		for (k = 0; k < 10; k++)
			history_writer_count(h, libc, 0x20000 + place() % 4096 * 16, 1);
	}
}

/* Writes an hour in a generation of its own; returns its number. */
static uint32_t write_hour(const char *dir, int64_t now_ms)
{
	_cleanup_(history_writer_freep) struct history_writer *h = history_writer_new(dir);
	const struct timespec at = { .tv_sec = (now_ms + HOUR_MS) / 1000 };
	_cleanup_free_ char *path = NULL;
	uint32_t files[PROGRAMS];
	int64_t ms;
	int i;

	for (i = 0; i < PROGRAMS; i++) {
		_cleanup_free_ char *name = xasprintf("/usr/lib/program-%d", i);

		files[i] = file_of(h, name, name);
	}
	for (ms = now_ms; ms < now_ms + HOUR_MS; ms += MINUTE_MS) {
		struct slice s = { { ms, ms + MINUTE_MS }, .samples = SAMPLES + NEW * 20 };

		count_programs(h, files);
		count_new(h, ms / MINUTE_MS);
		if (history_writer_end(h, &s, NULL) < 0)
			exit(1);
	}
	path = xasprintf("%s/history/%" PRIu32 ".slices", dir, history_writer_generation(h));
	(void)utimensat(AT_FDCWD, path, (const struct timespec[2]){ at, at }, 0);
	return history_writer_generation(h);
}

static void query(const char *dir, const char *what, int64_t from_ms, int64_t to_ms,
		  const struct steps *steps)
{
	_cleanup_(history_freep) struct history *h = NULL;
	double before = cpu_ms();
	uint64_t sum = 0;
	size_t i, k;

	if (history_read(dir, &(struct window){ from_ms, to_ms }, steps, &h, NULL) < 0)
		exit(1);
	for (i = 0; i < history_files(h); i++)
		for (k = 0; k < history_file_at(h, i)->count; k++)
			sum += history_file_at(h, i)->counts[k].count;
	printf("%-28s %7.0f ms, %zu slices (10 s: %zu, 1 min: %zu, 10 min: %zu, 1 h: %zu), %zu "
	       "files, "
	       "folded %.1f %%%s\n",
	       what, cpu_ms() - before, history_covers(h)->slices, history_covers(h)->by_level[0],
	       history_covers(h)->by_level[1], history_covers(h)->by_level[2],
	       history_covers(h)->by_level[3], history_files(h),
	       100.0 * (double)history_covers(h)->folded / (double)sum,
	       sum == history_covers(h)->samples ? "" : ", SUM WRONG");
}

int main(int argc, char **argv)
{
	struct steps hours;
	struct upkeep how = { .now_ms = begin_ms };
	uint64_t days, hour;
	double spent = 0, longest = 0;
	struct rusage use;

	if (argc != 3 || parse_u64(argv[2], 1, 400, &days) < 0) {
		(void)fprintf(stderr, "usage: %s DIR DAYS\n", argv[0]);
		return 2;
	}
	for (hour = 0; hour < days * 24; hour++) {
		_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
		double before;

		how.live = write_hour(argv[1], how.now_ms) + 1;
		how.now_ms += HOUR_MS;
		before = cpu_ms();
		(void)history_upkeep(argv[1], &how, &log);
		before = cpu_ms() - before;
		spent += before;
		longest = fmax(longest, before);
		(void)fputs(strbuf_text(&log), stdout);
	}
	(void)getrusage(RUSAGE_SELF, &use);
	printf("%" PRIu64
	       " days: rolling up took %.0f ms a day, %.0f ms at most at a time, %ld MiB\n",
	       days, spent / (double)days, longest, use.ru_maxrss / 1024);
	hours = (struct steps){ begin_ms, HOUR_MS,
				(uint32_t)((how.now_ms - begin_ms) / HOUR_MS + 1) };
	query(argv[1], "everything", INT64_MIN, INT64_MAX, NULL);
	query(argv[1], "the last hour", how.now_ms - HOUR_MS, how.now_ms, NULL);
	query(argv[1], "the last day", how.now_ms - 24 * (int64_t)HOUR_MS, how.now_ms, NULL);
	query(argv[1], "ten minutes two days ago", how.now_ms - 48 * (int64_t)HOUR_MS,
	      how.now_ms - 48 * (int64_t)HOUR_MS + 10 * MINUTE_MS, NULL);
	query(argv[1], "everything, hour by hour", INT64_MIN, INT64_MAX, &hours);
	return 0;
}
