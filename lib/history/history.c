/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/history.h"

#include "base/arena.h"
#include "base/holes.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/open_regular.h"
#include "base/path.h"
#include "history/internal/generations.h"
#include "history/internal/tally.h"
#include "history/slice_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct history {
	struct history_file *files;
	size_t count, room;
	struct history_count *counts; /* of all files, one file after the other */
	struct history_cover cover;
	struct history_cover *steps; /* NULL: time is not divided */
};

/* A history being read. */
struct reading {
	struct history *out;
	const struct window *window;
	const struct steps *steps; /* NULL: time is not divided */
	uint32_t step;		   /* that the current slice belongs to */
	struct arena paths;
	struct map by_path; /* hash to struct path */
	struct tally tally; /* files are numbered from 1 on, in the order of ->out */
	uint32_t *numbers;  /* of the generation's names, in ->tally; by line */
	size_t count, room;
};

struct path {
	const char *text;
	uint32_t number;
};

/* --- names --- */

/* The number of the sample file at @path; it takes the strings of @name if it is new. */
static uint32_t file_of(struct reading *r, struct history_name *name, const char *path)
{
	uint64_t hash = hash_bytes(path, strlen(path));
	struct history *out = r->out;
	struct path *known;

	map_for_each_of(&r->by_path, hash, known) if (!strcmp(known->text, path))
	{
		sname_done(&name->name);
		return known->number;
	}
	array_grow(&out->files, out->count + 1, &out->room);
	out->files[out->count++] = (struct history_file){ .about = *name };
	known = arena_alloc(&r->paths, sizeof(*known));
	*known = (struct path){ arena_strdup(&r->paths, path), (uint32_t)out->count };
	map_add(&r->by_path, hash, known);
	return known->number;
}

/* Reads the names of a generation. A bad line has no number, but counts: numbers are those of
 * lines. */
static void read_names(struct reading *r, const char *path)
{
	FILE *f = open_regular_stream(path);
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	ssize_t length;
	struct stat st;

	r->count = 0;
	if (!f)
		return;
	if (fstat(fileno(f), &st) < 0 || holes_prevail(fileno(f), (uint64_t)st.st_size)) {
		(void)fclose(f);
		return;
	}
	while ((length = xgetline(&line, &room, f)) > 0 && line[length - 1] == '\n') {
		struct history_name name;
		char *sample_path;
		bool good;

		line[length - 1] = '\0';
		good = strlen(line) == (size_t)length - 1 &&
		       generation_parse_name(line, &name, &sample_path) == 0;
		r->out->cover.damaged += good ? 0 : (size_t)length;
		array_grow(&r->numbers, r->count + 1, &r->room);
		r->numbers[r->count++] = good ? file_of(r, &name, sample_path) : 0;
	}
	(void)fclose(f);
}

/* --- slices --- */

/* The entries of a slice, for its two passes: keys, then counts. */
struct pass {
	struct slice_numbers keys, counts;
};

/* Moves @n past the keys of a slice, to the counts; the number of keys, or SIZE_MAX if they are
 * damaged. */
static size_t skip_keys(struct slice_numbers *n)
{
	size_t total = 0, left;

	while (slice_get(n)) {
		left = slice_get(n);
		if (left > (size_t)(n->end - n->at))
			return SIZE_MAX;
		for (total += left; left; left--)
			(void)slice_get(n);
	}
	return n->damaged || total > (size_t)(n->end - n->at) ? SIZE_MAX : total;
}

/* Begins with the counts of a slice. */
static void begin_slice(struct reading *r, const struct slice *slice)
{
	r->step = r->steps ? steps_at(r->steps, &slice->span) : 0;
}

/* Adds a count of the slice; @file is its number in ->tally. */
static void add_count(struct reading *r, uint32_t file, uint64_t key, uint64_t count)
{
	tally_add(&r->tally, (struct tally_entry){
				     .file = file, .key = key, .count = count, .step = r->step });
}

/* Adds the counts of one file; its number is 0 if its name is not known. */
static void add_file(struct reading *r, struct pass *p, uint32_t number, uint64_t keys)
{
	uint64_t key = 0;

	for (; keys; keys--) {
		uint64_t count = slice_get(&p->counts);

		key += slice_get(&p->keys);
		if (number && count)
			add_count(r, number, key, count);
	}
}

/* Adds the counts of a slice; false if they are damaged. */
static bool add_slice(struct reading *r, const uint8_t *content, size_t size)
{
	struct pass p = { .keys = { content, content + size, false } };
	uint64_t line = 0, distance;

	p.counts = p.keys;
	if (skip_keys(&p.counts) == SIZE_MAX)
		return false;
	while ((distance = slice_get(&p.keys))) {
		line += distance;
		if (distance > r->count || line > r->count)
			return false;
		add_file(r, &p, r->numbers[line - 1], slice_get(&p.keys));
	}
	return !p.counts.damaged;
}

static void add_time(int64_t *sum_ms, int64_t ms)
{
	if (__builtin_add_overflow(*sum_ms, ms, sum_ms))
		*sum_ms = INT64_MAX;
}

static void add_to_cover(struct history_cover *c, const struct slice *slice)
{
	if (!c->slices++)
		c->span = (struct window){ slice->span.begin_ms, slice->span.begin_ms };
	if (slice->span.begin_ms > c->span.end_ms)
		add_time(&c->gaps_ms, slice->span.begin_ms - c->span.end_ms);
	add_time(&c->covered_ms, slice->span.end_ms - slice->span.begin_ms);
	c->span.begin_ms = MIN(c->span.begin_ms, slice->span.begin_ms);
	c->span.end_ms = MAX(c->span.end_ms, slice->span.end_ms);
	c->samples += slice->samples;
	c->taken += slice->taken;
	c->lost += slice->lost;
	c->cpu_ms += slice->cpu_ms;
}

/* Ends the slice, all of whose counts were added. */
static void end_slice(struct reading *r, const struct slice *slice)
{
	add_to_cover(&r->out->cover, slice);
	if (r->steps)
		add_to_cover(&r->out->steps[r->step], slice);
}

/* Reads the slices of a generation that are in the window. The names are read when the first one
 * is found, and after the slices: a name is written before a slice refers to it. */
static int read_generation(struct reading *r, const char *dir, uint32_t number, struct error *err)
{
	_cleanup_free_ char *slices = generation_slices_path(dir, number);
	_cleanup_free_ char *names = generation_names_path(dir, number);
	_cleanup_(slices_freep) struct slices *s = NULL;
	struct slice slice;
	bool named = false;
	int status = slices_read(slices, &s, err);

	if (status < 0) /* it may have been deleted by now */
		return status == -ENOENT ? 0 : status;
	while (slices_next(s, &slice)) {
		const uint8_t *content;
		size_t size = 0;

		if (!window_overlaps(&slice.span, r->window))
			continue;
		if (!named)
			read_names(r, names);
		named = true;
		begin_slice(r, &slice);
		content = slices_content(s, &size);
		if (content && add_slice(r, content, size))
			end_slice(r, &slice);
		else
			r->out->cover.damaged += size;
	}
	r->out->cover.damaged += slices_damaged(s);
	return 0;
}

/* Distributes the counts to their files. */
static void deal_out(struct reading *r)
{
	struct history *out = r->out;
	size_t count, i;
	_cleanup_free_ struct tally_entry *entries = tally_take(&r->tally, &count);

	out->counts = xcalloc(count + 1, sizeof(*out->counts));
	for (i = 0; i < count; i++) {
		struct history_file *f = &out->files[entries[i].file - 1];

		out->counts[i] =
			(struct history_count){ entries[i].key, entries[i].count, entries[i].step };
		if (!f->count++)
			f->counts = &out->counts[i];
	}
}

static int say_no_history(const char *samples, struct error *err)
{
	return error_set(err, -ENOENT, "%s: the session has no history, so times are not known",
			 samples);
}

int history_read(const char *samples, const struct window *window, const struct steps *steps,
		 struct history **ret, struct error *err)
{
	_cleanup_free_ char *dir = path_join(samples, HISTORY_DIRECTORY);
	_cleanup_(history_freep) struct history *h = xcalloc(1, sizeof(*h));
	struct reading r = { .out = h, .window = window, .steps = steps };
	size_t count, i;
	_cleanup_free_ uint32_t *list = generations_list(dir, &count);
	int status = 0;

	if (!count)
		return say_no_history(samples, err);
	if (steps)
		h->steps = xcalloc(steps->count, sizeof(*h->steps));
	for (i = 0; status == 0 && i < count; i++)
		status = read_generation(&r, dir, list[i], err);
	deal_out(&r);
	tally_done(&r.tally);
	map_done(&r.by_path);
	arena_done(&r.paths);
	free(r.numbers);
	if (status == 0)
		*ret = STEAL(h);
	return status;
}

void history_free(struct history *h)
{
	size_t i;

	if (!h)
		return;
	for (i = 0; i < h->count; i++)
		sname_done(&h->files[i].about.name);
	free(h->files);
	free(h->counts);
	free(h->steps);
	free(h);
}

size_t history_files(const struct history *h)
{
	return h->count;
}

const struct history_file *history_file_at(const struct history *h, size_t i)
{
	return &h->files[i];
}

const struct history_cover *history_covers(const struct history *h)
{
	return &h->cover;
}

const struct history_cover *history_covers_step(const struct history *h, uint32_t i)
{
	return h->steps ? &h->steps[i] : NULL;
}

int history_span(const char *samples, const struct window *window, struct window *ret,
		 struct error *err)
{
	_cleanup_free_ char *dir = path_join(samples, HISTORY_DIRECTORY);
	struct window span = { INT64_MAX, INT64_MIN };
	size_t count, i;
	_cleanup_free_ uint32_t *list = generations_list(dir, &count);

	for (i = 0; i < count; i++) {
		_cleanup_free_ char *path = generation_slices_path(dir, list[i]);
		struct window one;

		if (slices_span(path, &one) < 0 || !window_overlaps(&one, window))
			continue;
		one.begin_ms = MAX(one.begin_ms, window->begin_ms);
		one.end_ms = MIN(one.end_ms, window->end_ms);
		span.begin_ms = MIN(span.begin_ms, one.begin_ms);
		span.end_ms = MAX(span.end_ms, one.end_ms);
	}
	if (span.begin_ms >= span.end_ms)
		return say_no_history(samples, err);
	*ret = span;
	return 0;
}
