/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_history SESSION DIR DAYS CPUS [HOURS [flat]]: replays the slices of a session that was
 * recorded with call chains on a busy machine with 2 CPUs, as if a machine with CPUS CPUs did the
 * like for DAYS days. The first HOURS hours, at most a day (default: 24), are replayed slice by
 * slice (history_replay.h). What follows is copies of these hours, until there are three days, or
 * one day of more than 8 CPUs; then copies of these days (history_drift.h). With HOURS 0, all days
 * are replayed slice by slice. All of it is rolled up as the daemon would. Prints how large the
 * history becomes, flat and of chains, and what rolling it up and asking it cost; with "flat",
 * without chains.
 */
#include "history_drift.h"
#include "history_functions.h"
#include "history_replay.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "chains/chain_history.h"
#include "chains/chain_read.h"
#include "history/history.h"
#include "history/history_source.h"
#include "history/upkeep.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOUR_MS	 INT64_C(3600000)
#define DAY_MS	 (24 * HOUR_MS)
#define BEGIN_MS HISTORY_REPLAY_BEGIN_MS

enum { WHOLE_DAYS_MAX = 3, KINDS = 2 };

static double seconds(const struct rusage *use)
{
	return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
	       (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec) / 1e6;
}

static double own_seconds(void)
{
	struct rusage use;

	(void)getrusage(RUSAGE_SELF, &use);
	return seconds(&use);
}

/* What upkeep cost, in CPU seconds and KiB. */
struct cost {
	double all, longest, last;
	long memory;
};

/* Does the upkeep in a process of its own, as the keeper does. */
static void tend(const char *dir, const struct upkeep *how, struct cost *cost)
{
	struct rusage use;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
		int r = history_upkeep(dir, how, &log);

		(void)fputs(strbuf_text(&log), stdout);
		(void)fflush(stdout);
		_exit(r < 0);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) < 0 || status != 0) {
		(void)fprintf(stderr, "upkeep failed\n");
		exit(1);
	}
	cost->last = seconds(&use);
	cost->all += cost->last;
	cost->longest = fmax(cost->longest, cost->last);
	cost->memory = MAX(cost->memory, use.ru_maxrss);
}

static void find_kept(const char *dir, const struct history_kind *kind,
		      struct history_kept kept[HISTORY_LEVELS])
{
	struct error err = ERROR_INIT;

	if (history_kept(dir, kind, kept, &err) == 0)
		return;
	(void)fprintf(stderr, "bench_history: %s\n", err.text);
	exit(1);
}

static void print_kept(const char *dir, const char *what, const struct history_kind *kind)
{
	struct history_kept kept[HISTORY_LEVELS];
	uint64_t bytes = 0;
	size_t i;

	find_kept(dir, kind, kept);
	for (i = 0; i < HISTORY_LEVELS; i++) {
		double days = (double)(kept[i].span.end_ms - kept[i].span.begin_ms) / 864e5;

		bytes += kept[i].bytes;
		if (kept[i].files)
			printf("%s, %s: %.2f MB in %zu files, %.2f days\n", what,
			       history_level((unsigned int)i)->slice_text,
			       (double)kept[i].bytes / 1e6, kept[i].files, days);
	}
	printf("%s, all levels: %.1f MB\n", what, (double)bytes / 1e6);
}

static void query(const char *dir, const char *what, int64_t from_ms, int64_t to_ms,
		  const struct steps *steps)
{
	_cleanup_(history_freep) struct history *h = NULL;
	double before = own_seconds();
	uint64_t sum = 0;
	size_t i, k;

	if (history_read(dir, &(struct window){ from_ms, to_ms }, steps, &h, NULL) < 0)
		exit(1);
	for (i = 0; i < history_files(h); i++)
		for (k = 0; k < history_file_at(h, i)->count; k++)
			sum += history_file_at(h, i)->counts[k].count;
	printf("flat, %s: %.0f ms, %" PRIu64 " samples in %zu slices, folded %.1f %%%s\n", what,
	       (own_seconds() - before) * 1e3, sum, history_covers(h)->slices,
	       100.0 * (double)history_covers(h)->folded / (double)sum,
	       sum == history_covers(h)->samples ? "" : ", SUM WRONG");
}

static int add_samples(uint32_t context _unused_, const struct chain *chain, void *data)
{
	*(uint64_t *)data += chain->samples;
	return 0;
}

/* The same of chains; @wanted: the samples that there must be, 0 if that is not known. */
static void query_chains(const char *dir, const char *what, const struct window *window,
			 uint64_t wanted)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	double before = own_seconds();
	uint64_t sum = 0;

	if (chain_reader_open(dir, window, &r, NULL) < 0)
		exit(1);
	(void)chain_reader_each(r, add_samples, &sum);
	printf("chains, %s: %.0f ms, %" PRIu64 " samples, folded %.1f %%%s\n", what,
	       (own_seconds() - before) * 1e3, sum,
	       100.0 * (double)chain_reader_folded(r) / (double)sum,
	       !wanted || sum == wanted ? "" : ", SUM WRONG");
}

/* A segment that later ones are copies of. */
struct original {
	char *path;
	int64_t begin_ms; /* of the hour or day that it is of */
};

/* What is simulated. */
struct simulation {
	struct history_replay_how how;
	const struct history_functions *functions;
	uint64_t days;
	uint64_t hours;	     /* that are replayed slice by slice, of the first day; 0: all of all */
	uint64_t whole_days; /* that consist of hours */
	const struct history_kind *kinds[KINDS];
	size_t kind_count;
	/* By kind. */
	struct original hour_files[KINDS][24], day_files[KINDS][WHOLE_DAYS_MAX];
	uint32_t live, live_chains; /* the generations that are not complete */
	uint64_t copied;	    /* samples */
	struct cost today;
};

static void ask(const struct simulation *s, int64_t now_ms, uint64_t samples)
{
	const char *dir = s->how.dir;
	const struct window day = { now_ms - DAY_MS, now_ms },
			    month = { now_ms - 30 * DAY_MS, now_ms };
	struct steps hours = { BEGIN_MS, HOUR_MS, (uint32_t)((now_ms - BEGIN_MS) / HOUR_MS + 1) };

	query(dir, "everything", INT64_MIN, INT64_MAX, NULL);
	query(dir, "the last hour", now_ms - HOUR_MS, now_ms, NULL);
	query(dir, "the last day", day.begin_ms, day.end_ms, NULL);
	query(dir, "the last 30 days", month.begin_ms, month.end_ms, NULL);
	if (hours.count <= STEPS_MAX)
		query(dir, "everything, hour by hour", INT64_MIN, INT64_MAX, &hours);
	if (s->how.flat_only)
		return;
	query_chains(dir, "all hours that were replayed", NULL, samples);
	query_chains(dir, "everything by slices", &(struct window){ INT64_MIN, INT64_MAX },
		     samples + s->copied);
	query_chains(dir, "the last hour", &(struct window){ now_ms - HOUR_MS, now_ms }, 0);
	query_chains(dir, "the last day", &day, 0);
	query_chains(dir, "the last 30 days", &month, 0);
}

/* Packs the pairs of files that have ended within an hour. */
static void pack(uint32_t live, uint32_t live_chains, int64_t now_ms, void *data)
{
	struct simulation *s = data;
	struct upkeep how = { .now_ms = now_ms,
			      .live = live,
			      .chains = &history_chains,
			      .chains_live = live_chains,
			      .functions = s->functions,
			      .spares_files = true };

	tend(s->how.dir, &how, &s->today);
}

/* Tends what there is at the end of an hour or a day. */
static void tend_all(struct simulation *s, int64_t now_ms)
{
	struct upkeep how = { .now_ms = now_ms,
			      .live = s->live,
			      .chains = s->how.flat_only ? NULL : &history_chains,
			      .chains_live = s->live_chains,
			      .functions = s->functions };

	tend(s->how.dir, &how, &s->today);
}

/* The path of the last segment of @level, which gets another name, too, as it will be deleted; the
 * caller frees. */
static char *keep_last(const struct simulation *s, const struct history_kind *kind,
		       unsigned int level)
{
	_cleanup_free_ char *dir = path_join(s->how.dir, kind->directory), *path = NULL;
	_cleanup_free_ struct history_source *list = NULL;
	const struct history_source *last = NULL;
	size_t count = 0, i;
	char *kept;

	if (sources_list(dir, kind, &list, &count, NULL) < 0)
		count = 0;
	for (i = 0; i < count; i++)
		if (list[i].is_segment && list[i].level == level)
			last = &list[i];
	if (!last) {
		(void)fprintf(stderr, "no segment of level %u\n", level);
		exit(1);
	}
	path = source_path(dir, last);
	kept = xasprintf("%s.original.%s%u.%" PRIu32, s->how.dir, kind->mark, level, last->first);
	if (link(path, kept) < 0) {
		perror(kept);
		exit(1);
	}
	return kept;
}

/* Whether the segment of @length_ms from @begin_ms on is rolled up and gone before the end. */
static bool is_brief(const struct simulation *s, int64_t begin_ms, int64_t length_ms)
{
	const int64_t kept_ms = length_ms < DAY_MS ? DAY_MS : 32 * DAY_MS;

	return begin_ms + kept_ms < BEGIN_MS + (int64_t)s->days * DAY_MS;
}

/* Copies a segment of each kind, the same one of @count, to the hour or day @to. */
static void copy(struct simulation *s, const struct original *of[KINDS], size_t count,
		 const struct window *to)
{
	size_t which = (size_t)lrand48() % count, i;

	for (i = 0; i < s->kind_count; i++) {
		const struct original *from = &of[i][which];
		uint64_t samples = history_drift(&(struct history_drift_how){
			s->how.dir, s->kinds[i], from->path, from->begin_ms, to->begin_ms,
			is_brief(s, to->begin_ms, to->end_ms - to->begin_ms) });

		/* Of chains, a slice that is in two pairs of files has its samples twice. */
		s->copied += i == 0 ? samples : 0;
	}
}

/* Simulates an hour of the first days, number @number. */
static void simulate_hour(struct history_replay *r, struct simulation *s, uint64_t number)
{
	const int64_t at_ms = BEGIN_MS + (int64_t)number * HOUR_MS;
	const struct original *of[KINDS] = { s->hour_files[0], s->hour_files[1] };
	size_t i;

	if (s->hours && number >= s->hours)
		copy(s, of, s->hours, &(struct window){ at_ms, at_ms + HOUR_MS });
	else
		history_replay_hour(r, at_ms, &s->live, &s->live_chains);
	tend_all(s, at_ms + HOUR_MS);
	for (i = 0; i < s->kind_count && number < s->hours; i++)
		s->hour_files[i][number] = (struct original){ keep_last(s, s->kinds[i], 1), at_ms };
}

static void simulate_day(struct history_replay *r, struct simulation *s, uint64_t day)
{
	const int64_t at_ms = BEGIN_MS + (int64_t)day * DAY_MS;
	const struct original *of[KINDS] = { s->day_files[0], s->day_files[1] };
	uint64_t hour;
	size_t i;

	if (day >= s->whole_days) {
		copy(s, of, s->whole_days, &(struct window){ at_ms, at_ms + DAY_MS });
		tend_all(s, at_ms + DAY_MS);
		return;
	}
	for (hour = 0; hour < 24; hour++)
		simulate_hour(r, s, day * 24 + hour);
	for (i = 0; i < s->kind_count && s->hours; i++)
		s->day_files[i][day] = (struct original){ keep_last(s, s->kinds[i], 2), at_ms };
}

static uint64_t bytes_of(const struct simulation *s, size_t kind)
{
	struct history_kept kept[HISTORY_LEVELS];
	uint64_t bytes = 0;
	size_t i;

	find_kept(s->how.dir, s->kinds[kind], kept);
	for (i = 0; i < HISTORY_LEVELS; i++)
		bytes += kept[i].bytes;
	return bytes;
}

static void print_day(const struct simulation *s, uint64_t day)
{
	const struct cost *today = &s->today;
	size_t i;

	printf("day %" PRIu64 ": upkeep %.2f s of CPU, %.2f at most at a time, %ld MiB", day + 1,
	       today->all, today->longest, today->memory >> 10);
	for (i = 0; i < s->kind_count; i++)
		printf(", %s %.1f MB", s->kinds[i]->directory, (double)bytes_of(s, i) / 1e6);
	printf("; simulation %.0f s, ", own_seconds());
}

/* Simulates all days; returns the end of the last one. */
static int64_t simulate(struct history_replay *r, struct simulation *s, struct cost *cost)
{
	uint64_t day;

	for (day = 0; day < s->days; day++) {
		const struct cost *today = &s->today;

		s->today = (struct cost){ 0 };
		simulate_day(r, s, day);
		print_day(s, day);
		history_replay_print(r);
		(void)fflush(stdout);
		cost->all += today->all;
		cost->longest = fmax(cost->longest, today->longest);
		cost->memory = MAX(cost->memory, today->memory);
	}
	return BEGIN_MS + (int64_t)s->days * DAY_MS;
}

static void forget(struct simulation *s)
{
	size_t i, k;

	for (i = 0; i < s->kind_count; i++) {
		for (k = 0; k < ARRAY_SIZE(s->hour_files[i]); k++)
			free(s->hour_files[i][k].path);
		for (k = 0; k < ARRAY_SIZE(s->day_files[i]); k++)
			free(s->day_files[i][k].path);
	}
}

static bool parse(int argc, char **argv, struct simulation *s)
{
	uint64_t cpus;

	if (argc < 5 || argc > 7 || parse_u64(argv[3], 1, 400, &s->days) < 0 ||
	    parse_u64(argv[4], 2, 1024, &cpus) < 0 ||
	    (argc >= 6 && parse_u64(argv[5], 0, 24, &s->hours) < 0))
		return false;
	s->how = (struct history_replay_how){ .samples = argv[1],
					      .dir = argv[2],
					      .cpus = (unsigned int)cpus,
					      .flat_only = argc == 7 && !strcmp(argv[6], "flat"),
					      .crowded = pack,
					      .data = s };
	s->functions = history_functions(argv[1]);
	s->kind_count = s->how.flat_only ? 1 : KINDS;
	/* A day of many CPUs takes long. */
	s->whole_days = !s->hours ? s->days : cpus > 8 ? 1 : WHOLE_DAYS_MAX;
	return argc < 7 || s->how.flat_only;
}

int main(int argc, char **argv)
{
	struct simulation s = { .hours = 24, .kinds = { &history_flat, &history_chains } };
	struct history_replay *replay;
	struct cost cost = { 0 };
	int64_t now_ms;
	size_t i;

	if (!parse(argc, argv, &s)) {
		(void)fprintf(stderr, "usage: %s SESSION DIR DAYS CPUS [HOURS [flat]]\n", argv[0]);
		return 2;
	}
	replay = history_replay_new(&s.how);
	now_ms = simulate(replay, &s, &cost);
	printf("upkeep: %.3f %% of a CPU, %.1f s at most at a time, %ld MiB\n",
	       cost.all / (double)s.days / 864, cost.longest, cost.memory >> 10);
	for (i = 0; i < s.kind_count; i++)
		print_kept(s.how.dir, s.kinds[i]->directory, s.kinds[i]);
	ask(&s, now_ms, history_replay_samples(replay));
	history_replay_free(replay);
	forget(&s);
	return 0;
}
