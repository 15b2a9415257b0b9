/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_history SESSION DIR DAYS CPUS [HOURS [flat]]: replays the slices of a session that was
 * recorded with call chains on a busy machine with 2 CPUs, as if a machine with CPUS CPUs did the
 * like for DAYS days, HOURS hours of each. Prints how large its history becomes, flat and of
 * chains, and what rolling it up and asking it cost; with "flat", without chains. The replay drifts
 * (history_replay.h).
 */
#include "history_replay.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "chains/chain_history.h"
#include "chains/chain_read.h"
#include "history/history.h"
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

#define HOUR_MS INT64_C(3600000)

static const int64_t begin_ms = INT64_C(1767225600000);

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

static void print_kept(const char *dir, const char *what, const struct history_kind *kind)
{
	struct history_kept kept[HISTORY_LEVELS];
	uint64_t bytes = 0;
	size_t i;

	history_kept(dir, kind, kept);
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

/* What is simulated. */
struct simulation {
	struct history_replay_how how;
	uint64_t days, hours; /* hours of each day */
	struct cost today;
};

static void ask(const struct simulation *s, int64_t now_ms, uint64_t samples)
{
	const char *dir = s->how.dir;
	const struct window day = { now_ms - 24 * HOUR_MS, now_ms };
	struct steps hours = { begin_ms, HOUR_MS, (uint32_t)((now_ms - begin_ms) / HOUR_MS + 1) };

	query(dir, "everything", INT64_MIN, INT64_MAX, NULL);
	query(dir, "the last hour", now_ms - HOUR_MS, now_ms, NULL);
	query(dir, "the last day", day.begin_ms, day.end_ms, NULL);
	if (hours.count <= STEPS_MAX)
		query(dir, "everything, hour by hour", INT64_MIN, INT64_MAX, &hours);
	if (s->how.flat_only)
		return;
	query_chains(dir, "the whole session", NULL, samples);
	query_chains(dir, "everything by slices", &(struct window){ INT64_MIN, INT64_MAX },
		     samples);
	query_chains(dir, "the last hour", &(struct window){ now_ms - HOUR_MS, now_ms }, 0);
	query_chains(dir, "the last day", &day, 0);
}

/* Packs the pairs of files that have ended within an hour. */
static void pack(uint32_t live, uint32_t live_chains, int64_t now_ms, void *data)
{
	struct simulation *s = data;
	struct upkeep how = { .now_ms = now_ms,
			      .live = live,
			      .chains = &history_chains,
			      .chains_live = live_chains,
			      .spares_files = true };

	tend(s->how.dir, &how, &s->today);
}

/* Simulates an hour; returns the end of it. */
static int64_t simulate_hour(struct history_replay *r, struct simulation *s, int64_t at_ms)
{
	struct upkeep how = { .now_ms = at_ms + HOUR_MS,
			      .chains = s->how.flat_only ? NULL : &history_chains };

	history_replay_hour(r, at_ms, &how.live, &how.chains_live);
	tend(s->how.dir, &how, &s->today);
	return how.now_ms;
}

/* Simulates all days; returns the end of the last one. */
static int64_t simulate(struct history_replay *r, struct simulation *s, struct cost *cost)
{
	uint64_t day, hour;
	int64_t now_ms = begin_ms;

	for (day = 0; day < s->days; day++) {
		const struct cost *today = &s->today;

		s->today = (struct cost){ 0 };
		for (hour = 24 - s->hours; hour < 24; hour++)
			now_ms = simulate_hour(r, s,
					       begin_ms + (int64_t)(day * 24 + hour) * HOUR_MS);
		printf("day %" PRIu64 ": upkeep %.2f s of CPU an hour, %.2f at most, %ld MiB; ",
		       day + 1, today->all / (double)s->hours, today->longest, today->memory >> 10);
		history_replay_print(r);
		(void)fflush(stdout);
		cost->all += today->all;
		cost->longest = fmax(cost->longest, today->longest);
		cost->memory = MAX(cost->memory, today->memory);
	}
	return now_ms;
}

static bool parse(int argc, char **argv, struct simulation *s)
{
	uint64_t cpus;

	if (argc < 5 || argc > 7 || parse_u64(argv[3], 1, 400, &s->days) < 0 ||
	    parse_u64(argv[4], 2, 1024, &cpus) < 0 ||
	    (argc >= 6 && parse_u64(argv[5], 1, 24, &s->hours) < 0))
		return false;
	s->how = (struct history_replay_how){ .samples = argv[1],
					      .dir = argv[2],
					      .cpus = (unsigned int)cpus,
					      .flat_only = argc == 7 && !strcmp(argv[6], "flat"),
					      .crowded = pack,
					      .data = s };
	return argc < 7 || s->how.flat_only;
}

int main(int argc, char **argv)
{
	struct simulation s = { .hours = 24 };
	struct history_replay *replay;
	struct cost cost = { 0 };
	int64_t now_ms;

	if (!parse(argc, argv, &s)) {
		(void)fprintf(stderr, "usage: %s SESSION DIR DAYS CPUS [HOURS [flat]]\n", argv[0]);
		return 2;
	}
	replay = history_replay_new(&s.how);
	now_ms = simulate(replay, &s, &cost);
	printf("upkeep: %.3f %% of a CPU, %.1f s at most at a time, %ld MiB\n",
	       cost.all / (double)(s.days * s.hours) / 36, cost.longest, cost.memory >> 10);
	print_kept(s.how.dir, "flat", &history_flat);
	if (!s.how.flat_only)
		print_kept(s.how.dir, "chains", &history_chains);
	ask(&s, now_ms, history_replay_samples(replay));
	history_replay_free(replay);
	return 0;
}
