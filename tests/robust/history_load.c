/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history_load DIR: writes a history below DIR, as the daemon does, and rolls it up. It reads
 * commands, one a line, and answers each with a line:
 *
 *	hour	writes an hour of both histories; the answer is the samples so far
 *	upkeep	does what is due; the answer is the number of new segments
 *	tend	the same; the answer is "done"
 *	sums	the samples of the flat history, of chains by slices, and of all chains
 */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "chains/chain_history.h"
#include "chains/chain_read.h"
#include "chains/chain_store.h"
#include "history/history.h"
#include "history/history_writer.h"
#include "history/upkeep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLICE_MS = 60000, HOUR_MS = 3600000, PAIRS = 5 };

struct load {
	struct error err; /* of the last call */
	const char *dir;
	int64_t now_ms;
	uint32_t generation;
	uint64_t samples;
};

/* Ends the program if @r is an error, which @err has unless it has no text. */
static void check(int r, const struct error *err)
{
	if (r >= 0)
		return;
	(void)fprintf(stderr, "history_load: %s\n", *err->text ? err->text : strerror(-r));
	exit(1);
}

/* Counts a sample in both histories. */
static void count(struct load *l, struct chain_store *s, struct history_writer *h)
{
	static const struct sname_image image = { .kind = SNAME_ROOT, .name = "/usr/bin/load" };
	const struct history_name name = {
		.name = { .app = image, .image = image, .event = "TIMER", .task = SNAME_TASK_ALL }
	};
	struct chain_context context = { .event = "TIMER.0.0",
					 .end = "complete",
					 .task = SNAME_TASK_ALL };
	uint32_t id;
	struct chain_frame frames[2];

	history_writer_count(h, history_writer_file(h, &name), l->samples % 97, 1);
	check(chain_store_turn(s, &l->err), &l->err);
	check(chain_store_image(s, &image, false, &context.app, &l->err), &l->err);
	check(chain_store_context(s, &context, &id, &l->err), &l->err);
	frames[0] = (struct chain_frame){ context.app, l->samples % 97 };
	frames[1] = (struct chain_frame){ context.app, 1 + l->samples % 7 };
	check(chain_store_add(s, id, &(struct chain){ frames, 2, 1 }, &l->err), &l->err);
	l->samples++;
}

/* Writes a part of an hour; the pair of chains ends with it. */
static void write_part(struct load *l, struct history_writer *h)
{
	struct chain_store *s = NULL;
	int64_t end_ms = l->now_ms + HOUR_MS / PAIRS;

	check(chain_store_open_sliced(l->dir, &s, &l->err), &l->err);
	for (; l->now_ms < end_ms; l->now_ms += SLICE_MS) {
		struct slice slice = { { l->now_ms, l->now_ms + SLICE_MS }, .samples = 10 };
		int i;

		for (i = 0; i < 10; i++)
			count(l, s, h);
		check(history_writer_end(h, &slice, &l->err), &l->err);
		check(chain_store_end_slice(s, &slice, &l->err), &l->err);
	}
	chain_store_close(s);
}

static void write_hour(struct load *l)
{
	_cleanup_(history_writer_freep) struct history_writer *h = history_writer_new(l->dir);
	int i;

	for (i = 0; i < PAIRS; i++)
		write_part(l, h);
	l->generation = history_writer_generation(h);
	printf("%" PRIu64 "\n", l->samples);
}

static int tend(struct load *l)
{
	const struct upkeep how = { .now_ms = l->now_ms,
				    .live = l->generation + 1,
				    .chains = &history_chains,
				    .chains_live = chain_history_next(l->dir) };
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	int r = history_upkeep(l->dir, &how, &log);

	(void)fputs(strbuf_text(&log), stderr);
	check(r, &l->err); /* the log says why */
	return r;
}

static int add_samples(uint32_t context _unused_, const struct chain *chain, void *data)
{
	*(uint64_t *)data += chain->samples;
	return 0;
}

static uint64_t chain_sum(const struct load *l, const struct window *window)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	uint64_t sum = 0;
	struct error err = ERROR_INIT;
	int status = chain_reader_open(l->dir, window, &r, &err);

	check(status == -ENOENT ? 0 : status, &err);
	if (r)
		(void)chain_reader_each(r, add_samples, &sum);
	return sum;
}

static void print_sums(const struct load *l)
{
	_cleanup_(history_freep) struct history *h = NULL;
	struct error err = ERROR_INIT;
	uint64_t flat = 0;
	size_t i, k;
	int status = history_read(l->dir, &WINDOW_ALL, NULL, &h, &err);

	check(status == -ENOENT ? 0 : status, &err);
	for (i = 0; h && i < history_files(h); i++)
		for (k = 0; k < history_file_at(h, i)->count; k++)
			flat += history_file_at(h, i)->counts[k].count;
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", flat, chain_sum(l, &WINDOW_ALL),
	       chain_sum(l, NULL));
}

static void print_log(enum log_level level _unused_, const char *text, void *data _unused_)
{
	(void)fprintf(stderr, "history_load: %s\n", text);
}

int main(int argc, char **argv)
{
	/* The hours are in the future: so files are as old as they look. */
	struct load l = { .dir = argc == 2 ? argv[1] : NULL,
			  .now_ms = (window_now_ms() / HOUR_MS + 1) * HOUR_MS };
	char line[32];

	if (!l.dir) {
		(void)fprintf(stderr, "usage: %s DIR\n", argv[0]);
		return 2;
	}
	log_to(LOG_LEVEL_WARNING, print_log, NULL);
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "hour\n"))
			write_hour(&l);
		else if (!strcmp(line, "upkeep\n"))
			printf("%d\n", tend(&l));
		else if (!strcmp(line, "tend\n") && tend(&l) >= 0)
			puts("done");
		else
			print_sums(&l);
		(void)fflush(stdout);
	}
	if (ferror(stdin) || ferror(stdout)) {
		(void)fprintf(
			stderr,
			"history_load: cannot read standard input, or write standard output\n");
		return 1;
	}
	return 0;
}
