/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the history of call chains share: a past with both histories, whose clock is
 * not that of the machine, and what readers find of it.
 */
#pragma once

#include "test.h"

#include "chains/chain_history.h"
#include "chains/chain_read.h"
#include "chains/chain_store.h"
#include "history/history.h"
#include "history/history_writer.h"
#include "history/levels.h"
#include "history/upkeep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROGRAMS = 5, SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

/* A midnight; the clock of these tests is not that of the machine. */
#define BEGIN_MS INT64_C(1767225600000)

struct past {
	char *dir;
	int64_t now_ms;
	uint32_t generation;
	uint64_t counted[PROGRAMS], all;
	const struct history_functions *functions;
};

/* Adds a chain of @count frames in a program. */
static inline void add(struct chain_store *s, const char *program, const uint64_t *offsets,
		       size_t count, uint64_t samples)
{
	const struct sname_image image = { .kind = SNAME_ROOT, .name = program };
	struct chain_context context = { .event = "TIMER.0.0",
					 .end = "complete",
					 .task = SNAME_TASK_ALL };
	struct chain_frame frames[8];
	uint32_t id = 0;
	size_t i;

	CHECK(chain_store_turn(s, NULL) >= 0);
	CHECK_EQ(chain_store_image(s, &image, false, &context.app, NULL), 0);
	CHECK_EQ(chain_store_context(s, &context, &id, NULL), 0);
	for (i = 0; i < count; i++)
		frames[i] = (struct chain_frame){ context.app, offsets[i] };
	CHECK_EQ(chain_store_add(s, id, &(struct chain){ frames, count, samples }, NULL), 0);
}

/* Sets the time when the files of the newest pair and generation were written. */
static inline void set_time(const struct past *p)
{
	const struct timespec at[] = { { p->now_ms / 1000, 0 }, { p->now_ms / 1000, 0 } };
	uint32_t pair = chain_history_next(p->dir) - 1;
	char *const paths[] = { xasprintf("%s/history/%u.slices", p->dir, p->generation),
				xasprintf("%s/chains/slices.%u", p->dir, pair),
				xasprintf("%s/chains/nodes.%u", p->dir, pair) };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		(void)utimensat(AT_FDCWD, paths[i], at, 0);
		free(paths[i]);
	}
}

static inline void count(struct past *p, struct chain_store *s, struct history_writer *h,
			 unsigned int program, uint64_t key)
{
	_cleanup_free_ char *path = xasprintf("/usr/bin/%u", program);
	struct history_name name = { .name = { .event = "TIMER", .task = SNAME_TASK_ALL } };
	uint64_t samples = 1 + key % 7;

	name.name.app = name.name.image = (struct sname_image){ .kind = SNAME_ROOT, .name = path };
	history_writer_count(h, history_writer_file(h, &name), key, samples);
	add(s, path, (const uint64_t[]){ key, 1 + key % 3, 7 }, 3, samples);
	p->counted[program] += samples;
	p->all += samples;
}

/* Writes both histories for a time, with a slice each @step_ms, by a writer of its own. */
static inline void write_time(struct past *p, int64_t length_ms, int64_t step_ms)
{
	_cleanup_(history_writer_freep) struct history_writer *h = history_writer_new(p->dir);
	struct chain_store *s = NULL;
	int64_t at;

	CHECK_EQ(chain_store_open_sliced(p->dir, &s, NULL), 0);
	for (at = p->now_ms; at < p->now_ms + length_ms; at += step_ms) {
		struct slice slice = { { at, at + 10 * SECOND }, .samples = 10, .taken = 10 };

		count(p, s, h, (unsigned int)(at / step_ms) % PROGRAMS,
		      (uint64_t)(at / step_ms) % 40);
		count(p, s, h, (unsigned int)(at / HOUR) % PROGRAMS, 7);
		CHECK_EQ(history_writer_end(h, &slice, NULL), 0);
		CHECK_EQ(chain_store_end_slice(s, &slice, NULL), 0);
	}
	p->generation = history_writer_generation(h);
	p->now_ms += length_ms;
	chain_store_close(s);
	set_time(p);
}

static inline void write_hour(struct past *p, int64_t step_ms)
{
	write_time(p, HOUR, step_ms);
}

/* Writes an hour of a machine that fills several pairs in it. */
static inline void write_busy_hour(struct past *p)
{
	unsigned int pair;

	for (pair = 0; pair < 5; pair++)
		write_time(p, 12 * MINUTE, 12 * MINUTE);
}

static inline int upkeep(const struct past *p, uint64_t bytes_max, uint64_t keep_ms)
{
	const struct upkeep how = { .now_ms = p->now_ms,
				    .bytes_max = bytes_max,
				    .keep_ms = keep_ms,
				    .live = p->generation + 1,
				    .chains = &history_chains,
				    .functions = p->functions,
				    .chains_live = chain_history_next(p->dir) };
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	int n = history_upkeep(p->dir, &how, &log);

	if (!bytes_max)
		CHECK_STR(strbuf_text(&log), "");
	return n;
}

/* What chains were read: all samples, and those of one application. */
struct sums {
	const struct chain_names *names;
	const char *app;
	uint64_t all, of_app, rare, below_main, of_functions;
};

static inline int take(uint32_t context, const struct chain *chain, void *data)
{
	struct sums *s = data;
	const struct chain_context *c = chain_names_context_at(s->names, context);

	s->all += chain->samples;
	if (s->app && !strcmp(chain_names_image_at(s->names, c->app)->name, s->app))
		s->of_app += chain->samples;
	if (chain->is_function) {
		s->of_functions += chain->samples;
		CHECK_EQ(chain->frames[0].offset, 0x1000);
		CHECK_EQ(chain->frames[1].offset, 1);
	}
	if (chain->frames[0].offset == HISTORY_RARE) {
		s->rare += chain->samples;
		if (chain->count == 2 && chain->frames[1].offset == 1)
			s->below_main += chain->samples;
	}
	return 0;
}

static inline struct sums read_chains(const char *dir, const struct window *window, const char *app)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct sums s = { .app = app };
	int status = chain_reader_open(dir, window, &r, NULL);

	if (status == -ENOENT)
		return s;
	CHECK_EQ(status, 0);
	s.names = chain_reader_names(r);
	CHECK_EQ(chain_reader_each(r, take, &s), 0);
	CHECK_EQ(chain_reader_folded(r), s.rare);
	CHECK_EQ(chain_reader_skipped(r).bytes + chain_reader_skipped(r).samples, 0);
	return s;
}

/* All samples of the chains, whatever is skipped. */
static inline uint64_t read_whole(const char *dir, const struct window *window)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct sums s = { 0 };

	CHECK_EQ(chain_reader_open(dir, window, &r, NULL), 0);
	s.names = chain_reader_names(r);
	CHECK_EQ(chain_reader_each(r, take, &s), 0);
	return s.all;
}

static inline uint64_t flat_samples(const struct history *h)
{
	uint64_t sum = 0;
	size_t i, k;

	for (i = 0; i < history_files(h); i++)
		for (k = 0; k < history_file_at(h, i)->count; k++)
			sum += history_file_at(h, i)->counts[k].count;
	return sum;
}

/* The chains of a window are those of the slices that the flat history takes for it. */
static inline void check_window(const struct past *p, int64_t begin_ms, int64_t end_ms)
{
	_cleanup_(history_freep) struct history *h = NULL;
	struct sums s;

	CHECK_EQ(history_read(p->dir, &(struct window){ begin_ms, end_ms }, NULL, &h, NULL), 0);
	s = read_chains(p->dir, &history_covers(h)->span, NULL);
	CHECK_EQ(s.all, flat_samples(h));
}

static inline void check_sums(const struct past *p)
{
	unsigned int i;

	for (i = 0; i < PROGRAMS; i++) {
		_cleanup_free_ char *path = xasprintf("/usr/bin/%u", i);

		CHECK_EQ(read_chains(p->dir, &WINDOW_ALL, path).of_app, p->counted[i]);
		CHECK_EQ(read_chains(p->dir, NULL, path).of_app, p->counted[i]);
	}
	CHECK_EQ(read_chains(p->dir, NULL, NULL).all, p->all);
}

/* How many files of the store there are whose names begin with @prefix. */
static inline unsigned int files_of(const struct past *p, const char *prefix)
{
	_cleanup_free_ char *path = path_join(p->dir, CHAIN_DIRECTORY);
	DIR *d = opendir(path);
	struct dirent *e;
	unsigned int n = 0;

	while ((e = readdir(d)))
		n += strncmp(e->d_name, prefix, strlen(prefix)) == 0;
	(void)closedir(d);
	return n;
}

static inline uint64_t bytes_of(const struct past *p)
{
	static const struct history_kind *const kinds[] = { &history_flat, &history_chains };
	struct history_kept kept[HISTORY_LEVELS];
	uint64_t sum = 0;
	size_t i, level;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		CHECK_EQ(history_kept(p->dir, kinds[i], kept, NULL), 0);
		for (level = 0; level < HISTORY_LEVELS; level++)
			sum += kept[level].bytes;
	}
	return sum;
}

/* A program with a hot chain and @rare leaves that main called once each; and as many others that
 * are sampled once. */
static inline void write_rare(struct past *p, unsigned int rare)
{
	struct chain_store *s = NULL;
	const struct slice slice = { { p->now_ms, p->now_ms + 10 * SECOND } };
	unsigned int i;

	CHECK_EQ(chain_store_open_sliced(p->dir, &s, NULL), 0);
	add(s, "/usr/bin/hot", (const uint64_t[]){ 0x100, 1 }, 2, 100000000);
	for (i = 0; i < rare; i++) {
		_cleanup_free_ char *other = xasprintf("/tmp/%u", i);

		add(s, "/usr/bin/hot", (const uint64_t[]){ 0x1000 + i, 1 }, 2, 1);
		add(s, other, (const uint64_t[]){ 5, 6 }, 2, 1);
	}
	CHECK_EQ(chain_store_end_slice(s, &slice, NULL), 0);
	chain_store_close(s);
	p->now_ms += HOUR;
	set_time(p);
}

/* Functions of a page each, of one image. */
static inline const void *functions_of(const struct segment_functions *f, const char *line)
{
	return strstr(line, "/usr/bin/hot") ? f->data : NULL;
}

static inline bool start_of(const void *functions, uint64_t key, uint64_t *ret)
{
	*ret = key & ~UINT64_C(0xfff);
	return functions != NULL;
}

static inline void open_functions(const char *samples, struct segment_functions *f)
{
	*f = (struct segment_functions){ .of_line = functions_of,
					 .start = start_of,
					 .data = xstrdup(samples) };
}

static inline void close_functions(struct segment_functions *f)
{
	free(f->data);
}
