/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of lib/record share: a session on a machine that is made up, and what is in its
 * files. */
#pragma once

#include "sample_lines.h"

#include "identity/cookie.h"
#include "stream/evbuf.h"
#include "record/record.h"
#include "chains/chain_read.h"
#include "sfile/manifest.h"

#include <errno.h>
#include <inttypes.h>

#define ESC EVBUF_ESCAPE

static const char kallsyms[] = "ffffffff81000000 T _text\nffffffff81001000 T _etext\n"
			       "ffffffffc0100010 t xfs_read\t[xfs]\n"
			       "ffffffffc0300000 t bpf_prog_1\t[bpf]\n";
static const char modules[] = "xfs 4096 1 - Live 0xffffffffc0100000\n";

/* A session in a directory of its own, with a machine whose /proc is made up. */
struct bench {
	char *dir, *root, *session;
	struct cookie_table *cookies;
	struct event events[2];
	struct record_config config;
	struct record *rec;
	struct evbuf *buffer;
};

static inline void put_file(const char *dir, const char *name, const char *text)
{
	_cleanup_free_ char *path = path_join(dir, name);

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(path_write(path, text, 0644, NULL), 0);
}

static inline void bench_init(struct bench *b)
{
	*b = (struct bench){ .dir = test_directory() };
	b->root = path_join(b->dir, "root");
	b->session = path_join(b->dir, "session");
	b->cookies = cookie_table_new();
	put_file(b->root, "proc/kallsyms", kallsyms);
	put_file(b->root, "proc/modules", modules);
	event_timer(&b->events[0], 100, true, true);
	event_timer(&b->events[1], 100, true, true);
	(void)snprintf(b->events[1].name, sizeof(b->events[1].name), "OTHER");
	b->config = (struct record_config){ .session_dir = b->session,
					    .session_name = "current",
					    .events = b->events,
					    .event_count = 2,
					    .root = b->root,
					    .cookies = b->cookies };
}

static inline void bench_start(struct bench *b)
{
	struct error err = ERROR_INIT;

	if (record_new(&b->config, &b->rec, &err) < 0) {
		printf("# %s\n", err.text);
		abort();
	}
	b->buffer = evbuf_new(256, record_words, b->rec);
}

static inline void bench_done(struct bench *b)
{
	evbuf_free(b->buffer);
	record_free(b->rec);
	cookie_table_free(b->cookies);
	free(b->root);
	free(b->session);
	test_directory_donep(&b->dir);
}

#define BENCH(b)                                                                                   \
	_cleanup_(bench_done) struct bench b;                                                      \
	bench_init(&b)

/* A process whose program is @app. */
static inline void run_as(struct bench *b, uint32_t pid, uint64_t app)
{
	evbuf_context(b->buffer,
		      &(struct evbuf_context){ .cpu = 1, .tgid = pid, .tid = pid + 1, .app = app });
}

static inline struct record_stats stats_of(struct bench *b)
{
	struct record_stats s;

	CHECK_EQ(evbuf_flush(b->buffer), 0);
	record_stats(b->rec, &s);
	return s;
}

/* All sample files, "NAME KEY COUNT" a line, in no order; caller frees. */
static inline char *listing(struct bench *b, const char *session)
{
	CHECK_EQ(evbuf_flush(b->buffer), 0);
	CHECK_EQ(record_flush(b->rec, true, NULL), 0);
	return sample_lines(b->session, session);
}

/* The current session's listing holds each of @lines, and nothing else. */
static inline void check_listing(struct bench *b, const char *const *lines, size_t count)
{
	CHECK_EQ(evbuf_flush(b->buffer), 0);
	CHECK_EQ(record_flush(b->rec, true, NULL), 0);
	check_sample_lines(b->session, lines, count);
}
#define CHECK_LISTING(b, ...)                                                                      \
	do {                                                                                       \
		const char *const lines_[] = { __VA_ARGS__ };                                      \
		check_listing(b, lines_, ARRAY_SIZE(lines_));                                      \
	} while (0)

#define T0 "TIMER.0.0.all.all.all "
#define P  "{root}/bin/p/{dep}/"
