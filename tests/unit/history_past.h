/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the flat history share: a past of whole hours, whose clock is not that of the
 * machine, and what readers find of it.
 *
 *	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
 *	write_hour(&p, 10 * MINUTE);
 *	(void)upkeep(&p, 0);
 *	check_sums(&p);
 */
#pragma once

#include "test.h"

#include "history/history.h"
#include "history/history_writer.h"
#include "history/upkeep.h"

#include <dirent.h>
#include <fcntl.h>
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

static inline struct history_name name_of(const char *path)
{
	struct history_name n = { .name = { .event = "TIMER", .task = SNAME_TASK_ALL } };

	n.name.app = n.name.image = (struct sname_image){ .kind = SNAME_ROOT, .name = path };
	return n;
}

static inline void count(struct past *p, struct history_writer *h, unsigned int program,
			 uint64_t key)
{
	_cleanup_free_ char *path = xasprintf("/usr/bin/%u", program);
	struct history_name name = name_of(path);
	uint64_t samples = 1 + key % 7;

	history_writer_count(h, history_writer_file(h, &name), key, samples);
	p->counted[program] += samples;
}

/* Ends the hour: the generation was written until then. */
static inline void end_hour(struct past *p)
{
	_cleanup_free_ char *file = xasprintf("%s/history/%u.slices", p->dir, p->generation);

	p->now_ms += HOUR;
	CHECK_EQ(utimensat(AT_FDCWD, file,
			   (struct timespec[2]){ { p->now_ms / 1000, 0 }, { p->now_ms / 1000, 0 } },
			   0),
		 0);
}

/* Writes an hour with a slice each @step_ms, in a generation of its own. */
static inline void write_hour(struct past *p, int64_t step_ms)
{
	_cleanup_(history_writer_freep) struct history_writer *h = history_writer_new(p->dir);
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
	end_hour(p);
}

static inline int upkeep(const struct past *p, uint64_t bytes_max)
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

static inline struct history *read_window(const struct past *p, int64_t begin_ms, int64_t end_ms)
{
	struct history *h = NULL;

	CHECK_EQ(history_read(p->dir, &(struct window){ begin_ms, end_ms }, NULL, &h, NULL), 0);
	return h;
}

/* The counts of a program, or of one key of it. */
static inline uint64_t counted(const struct history *h, const char *path, const uint64_t *key)
{
	uint64_t sum = 0;
	size_t i, k;

	for (i = 0; i < history_files(h); i++) {
		const struct history_file *f = history_file_at(h, i);

		for (k = 0; k < f->count && !strcmp(f->name.image->name, path); k++)
			sum += !key || f->counts[k].key == *key ? f->counts[k].count : 0;
	}
	return sum;
}

static inline void check_sums(const struct past *p)
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
static inline unsigned int files_of(const struct past *p, const char *prefix, const char *suffix)
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

static inline uint64_t bytes_of(const struct past *p)
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
