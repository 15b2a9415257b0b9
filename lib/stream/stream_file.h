/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recorded stream is a file with the event buffer of a run and the events and cookies (images)
 * that it refers to, so that the run can be replayed anywhere (driver "replay"). The format is in
 * man oprofile-buffer.5. Words that are read are the reader's until the next call.
 *
 *	struct stream_file *t;
 *	stream_file_create("run.opstream", events, count, cookies, &t, err);
 *	stream_file_words(words, n, t);				an evbuf_sink
 *	stream_file_close(t, &stats, err);
 *
 *	struct stream_file_reader *r;
 *	stream_file_open("run.opstream", &r, err);
 *	while (stream_file_next(r, cookies, &words, &n, err) > 0) ...
 *	stream_file_reader_close(r);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "event/event.h"

struct cookie_table;
struct driver_stats;
struct stream_file;
struct stream_file_reader;

/* Creates @path, or empties it, and writes the events into it. @cookies is borrowed until
 * stream_file_close(). 0 or -errno. */
int stream_file_create(const char *path, const struct event *events, size_t event_count,
		       const struct cookie_table *cookies, struct stream_file **ret,
		       struct error *err);
/* Writes the cookies that are new or newly identified, then the words. An evbuf_sink with the
 * struct stream_file as @data. 0, or -errno, after which nothing more is written. */
int stream_file_words(const uint64_t *words, size_t count, void *data);
/* Writes the driver's totals, if @stats is not NULL, and closes; 0, or -errno if not all of the
 * file could be written. NULL is fine. */
int stream_file_close(struct stream_file *t, const struct driver_stats *stats, struct error *err);

/* Opens a recorded stream and reads its head. 0 or -errno; -EBADMSG if it is not one. */
int stream_file_open(const char *path, struct stream_file_reader **ret, struct error *err);
/* Closes; NULL is fine. */
void stream_file_reader_close(struct stream_file_reader *r);
DEFINE_CLEANUP(struct stream_file_reader *, stream_file_reader_close);
/* The events that were sampled; borrowed. */
const struct event *stream_file_events(const struct stream_file_reader *r, size_t *ret_count);
/* Whether it was recorded since this machine was booted, so that its kernel addresses are those of
 * the running kernel. */
bool stream_file_same_boot(const struct stream_file_reader *r);
/* Whether the file @path is a recorded stream of another boot. 1, 0, or -errno if it cannot be
 * read. */
int stream_file_other_boot(const char *path, struct error *err);
/* Reads the next words, borrowed until the next call, and defines the cookies before them in
 * @cookies. 1 with words; 0 at the end, also of a file that was cut short, which is logged;
 * -errno. */
int stream_file_next(struct stream_file_reader *r, struct cookie_table *cookies,
		     const uint64_t **ret_words, size_t *ret_count, struct error *err);
/* The recorded driver's totals, complete once stream_file_next() has returned 0. */
void stream_file_stats(const struct stream_file_reader *r, struct driver_stats *ret);
