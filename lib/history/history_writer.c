/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/history_writer.h"

#include "base/keyed_hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "history/internal/generations.h"
#include "history/history_kind.h"
#include "history/history_source.h"
#include "history/internal/tally.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	GENERATION_MS = 3600 * 1000,
	/* Counts of one slice: ten seconds of a busy machine have some thousand. */
	COUNTS_MAX = 1 << 20,
	/* Memory for the names of a generation, which then ends, and for those of a slice: programs
	 * make as many as they like. One takes as much as its path, and an entry of the tables. */
	NAMES_BYTES = 4 << 20,
	NAMES_IN_SLICE = 4 * NAMES_BYTES,
	NAME_ENTRY = 96,
	/* By how much a clock is set back at most that is only corrected. */
	BACK_MS = 60 * 1000,
};

struct history_writer {
	char *dir;
	uint32_t epoch;

	/* The generation; ->slices is NULL before its first slice. */
	struct slice_file *slices;
	int names_fd;
	off_t names_length;
	int64_t hour; /* in which it began */
	uint32_t number;
	uint32_t first; /* of that hour; 0: there was none yet */

	struct map by_hash; /* of a name's path to its number */
	struct keyed_hash hash;
	char **paths; /* by number - 1 */
	size_t count, room;
	size_t bytes;	     /* of all names */
	struct strbuf lines; /* of the names that are not written yet */

	struct tally tally;
	int64_t last_ms; /* when the last slice ended */
};

struct history_writer *history_writer_new(const char *samples)
{
	struct history_writer *h = xcalloc(1, sizeof(*h));

	h->dir = path_join(samples, HISTORY_DIRECTORY);
	h->epoch = 1;
	h->names_fd = -1;
	h->hash = keyed_hash_new();
	return h;
}

/* Ends the generation: its numbers become invalid. */
static void end_generation(struct history_writer *h)
{
	size_t i;

	slice_file_close(h->slices);
	h->slices = NULL;
	if (h->names_fd >= 0)
		(void)close(h->names_fd);
	h->names_fd = -1;
	for (i = 0; i < h->count; i++)
		free(h->paths[i]);
	h->count = h->bytes = 0;
	map_done(&h->by_hash);
	strbuf_clear(&h->lines);
	h->epoch++;
}

void history_writer_leave(struct history_writer *h)
{
	end_generation(h);
	h->number = h->first = 0; /* the next one may be of another session */
	tally_done(&h->tally);
}

void history_writer_free(struct history_writer *h)
{
	if (!h)
		return;
	history_writer_leave(h);
	strbuf_done(&h->lines);
	free(h->paths);
	free(h->dir);
	free(h);
}

uint32_t history_writer_epoch(const struct history_writer *h)
{
	return h->epoch;
}

uint32_t history_writer_file(struct history_writer *h, const struct history_name *name)
{
	_cleanup_free_ char *path = sname_mangle(&name->name);
	uint64_t hash = keyed_hash_of(&h->hash, path, strlen(path));
	uintptr_t number;

	map_for_each_of(&h->by_hash, hash,
			number) if (!strcmp(h->paths[number - 1], path)) return (uint32_t)number;
	generation_add_name(&h->lines, name, path);
	array_grow(&h->paths, h->count + 1, &h->room);
	h->bytes += strlen(path) + NAME_ENTRY;
	h->paths[h->count++] = STEAL(path);
	map_add(&h->by_hash, hash, (void *)(uintptr_t)h->count);
	return (uint32_t)h->count;
}

uint32_t history_writer_generation(const struct history_writer *h)
{
	return h->first;
}

void history_writer_count(struct history_writer *h, uint32_t file, uint64_t key, uint64_t count)
{
	tally_add(&h->tally, (struct history_count){ .file = file, .key = key, .count = count });
}

bool history_writer_is_full(const struct history_writer *h)
{
	return h->tally.used >= COUNTS_MAX || h->bytes >= NAMES_IN_SLICE;
}

/* --- slices --- */

/* Adds the numbers of one slice: for each file its number, how many keys, and these; then all
 * counts. Numbers and keys that rise are written as their distances. */
static void encode(struct strbuf *out, const struct history_count *entries, size_t count)
{
	uint32_t file = 0;
	size_t i, k;

	for (i = 0; i < count; i = k) {
		uint64_t key = 0;

		for (k = i; k < count && entries[k].file == entries[i].file; k++)
			;
		strbuf_add_uleb(out, entries[i].file - file);
		strbuf_add_uleb(out, k - i);
		file = entries[i].file;
		for (size_t j = i; j < k; j++) {
			strbuf_add_uleb(out, entries[j].key - key);
			key = entries[j].key;
		}
	}
	strbuf_add_uleb(out, 0);
	for (i = 0; i < count; i++)
		strbuf_add_uleb(out, entries[i].count);
}

/* Begins a generation on disk. */
static int open_generation(struct history_writer *h, int64_t now_ms, struct error *err)
{
	_cleanup_free_ char *names = NULL, *slices = NULL;
	const int64_t hour = now_ms / GENERATION_MS;
	int r = path_make_dirs(h->dir, 0755, err);

	if (r == 0)
		r = sources_next(h->dir, &history_flat, &h->number, err);
	if (r < 0)
		return r;
	h->number = MAX(h->number, 1U);
	names = generation_names_path(h->dir, h->number);
	slices = generation_slices_path(h->dir, h->number);
	h->names_length = 0;
	h->names_fd = open_regular_new(names, O_WRONLY | O_APPEND, 0644);
	if (h->names_fd < 0)
		return error_set(err, h->names_fd, "%s: %s", names, open_regular_why(h->names_fd));
	if (!h->first || hour != h->hour)
		h->first = h->number;
	h->hour = hour;
	return slice_file_open(slices, &h->slices, err);
}

/* Writes the lines of new names: a slice must not name what is not there. */
static int write_names(struct history_writer *h, struct error *err)
{
	ssize_t written = write(h->names_fd, h->lines.text, h->lines.length);
	int why = written < 0 ? -errno : -ENOSPC;

	if (written != (ssize_t)h->lines.length) {
		(void)!ftruncate(h->names_fd, h->names_length);
		return error_errno(err, why, "cannot write the names in %s", h->dir);
	}
	h->names_length += written;
	strbuf_clear(&h->lines);
	return 0;
}

/* The clock may have been set back. If it was by a little, as is usual, a slice begins where the
 * last one ended, and is a quarter shorter, until the clock has caught up. If it was by more, the
 * slice is at the time that the clock shows now, which then has the slices of two times. */
static void move_after_last(struct history_writer *h, struct window *span)
{
	const int64_t length_ms = span->end_ms - span->begin_ms,
		      back_ms = h->last_ms - span->begin_ms;

	if (back_ms > 0 && back_ms <= BACK_MS) {
		span->begin_ms = h->last_ms;
		span->end_ms = MAX(span->end_ms, h->last_ms + length_ms - length_ms / 4);
	}
	span->end_ms = MAX(span->end_ms, span->begin_ms + 1);
	h->last_ms = span->end_ms;
}

int history_writer_end(struct history_writer *h, struct slice *slice, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf numbers = STRBUF_INIT;
	size_t count;
	_cleanup_free_ struct history_count *entries = tally_take(&h->tally, &count);
	int r = 0;

	move_after_last(h, &slice->span);
	if (!h->slices)
		r = open_generation(h, slice->span.end_ms, err);
	if (r == 0 && h->lines.length)
		r = write_names(h, err);
	encode(&numbers, entries, count);
	if (r == 0)
		r = slice_file_add(h->slices, slice, numbers.text, numbers.length, err);
	if (r < 0 || slice->span.end_ms / GENERATION_MS != h->hour || h->bytes >= NAMES_BYTES ||
	    slice_file_is_full(h->slices))
		end_generation(h);
	return r;
}

size_t history_writer_memory(const struct history_writer *h)
{
	return (h->tally.slots ? h->tally.mask + 1 : 0) * sizeof(*h->tally.slots) + h->bytes;
}
