/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/history.h"

#include "base/mem.h"
#include "file/path.h"
#include "history/internal/reading.h"
#include "history/internal/reading_top.h"
#include "history/segment.h"
#include "history/history_kind.h"
#include "history/history_source.h"
#include "sfile/idle.h"
#include "sfile/session.h"

#include <errno.h>
#include <stdlib.h>

struct history {
	struct history_file *files;
	size_t count;
	struct file_names names;      /* of the files */
	struct history_count *counts; /* of all files, one file after the other */
	struct history_cover cover;
	struct history_cover *steps; /* NULL: time is not divided */
};

/* --- what is covered --- */

static int compare_extents(const void *pa, const void *pb)
{
	const struct window *a = &((const struct extent *)pa)->slice.span,
			    *b = &((const struct extent *)pb)->slice.span;

	return (a->begin_ms > b->begin_ms) - (a->begin_ms < b->begin_ms);
}

static void add_time(int64_t *sum_ms, int64_t ms)
{
	if (__builtin_add_overflow(*sum_ms, ms, sum_ms))
		*sum_ms = INT64_MAX;
}

/* Adds a slice, which does not begin before those that were added. */
static void add_to_cover(struct history_cover *c, const struct extent *e)
{
	const struct slice *slice = &e->slice;

	if (!c->slices++)
		c->span = (struct window){ slice->span.begin_ms, slice->span.begin_ms };
	c->by_level[e->level]++;
	if (slice->span.begin_ms > c->span.end_ms)
		add_time(&c->gaps_ms, slice->span.begin_ms - c->span.end_ms);
	add_time(&c->gaps_ms, e->gaps_ms);
	add_time(&c->covered_ms, slice->span.end_ms - slice->span.begin_ms - e->gaps_ms);
	c->span.end_ms = MAX(c->span.end_ms, slice->span.end_ms);
	c->samples += slice->samples;
	c->taken += slice->taken;
	c->lost += slice->lost;
	c->cpu_ms += slice->cpu_ms;
}

/* Notes where the steps begin and end that have an instant of @span: count_touching() adds up. */
static void note_touching(struct history_cover *covers, const struct steps *steps,
			  const struct window *span)
{
	const int64_t begin_ms = span->begin_ms, last_ms = span->end_ms - 1;
	uint32_t first = steps_at(steps, &(struct window){ begin_ms, begin_ms }),
		 last = steps_at(steps, &(struct window){ last_ms, last_ms });

	covers[first].touching++;
	if (last + 1 < steps->count)
		covers[last + 1].touching--;
}

static void count_touching(struct history_cover *covers, const struct steps *steps)
{
	uint32_t i;

	for (i = 1; i < steps->count; i++)
		covers[i].touching += covers[i - 1].touching;
}

static void find_cover(struct history *h, struct reading *r)
{
	size_t i;

	if (r->extent_count)
		qsort(r->extents, r->extent_count, sizeof(*r->extents), compare_extents);
	if (r->steps)
		h->steps = xcalloc(r->steps->count, sizeof(*h->steps));
	for (i = 0; i < r->extent_count; i++) {
		const struct extent *e = &r->extents[i];

		add_to_cover(&h->cover, e);
		if (!r->steps)
			continue;
		add_to_cover(&h->steps[steps_at(r->steps, &e->slice.span)], e);
		note_touching(h->steps, r->steps, &e->slice.span);
	}
	if (r->steps)
		count_touching(h->steps, r->steps);
	h->cover.folded = r->folded;
	h->cover.functions = r->functions;
	h->cover.damaged = r->damaged;
}

/* --- reading --- */

/* Finds where the counts of each file begin if they are put in the order of files; the caller
 * frees. */
static size_t *find_places(struct history *h, const struct pile *p)
{
	size_t *next = xcalloc(h->count + 1, sizeof(*next)), at = 0, i;

	for (i = 0; i < p->count; i++)
		h->files[p->entries[i].file - 1].count++;
	for (i = 0; i < h->count; i++) {
		next[i] = at;
		h->files[i].counts = p->entries + at;
		at += h->files[i].count;
	}
	return next;
}

/* Puts the counts in the order of files, in place, as there can be many. Sorting those of a file
 * would take longer than all else, and readers of samples sort them anyway. */
static void deal_out(struct history *h, struct reading *r)
{
	struct history_count *all = h->counts = STEAL(r->pile.entries);
	_cleanup_free_ size_t *next = NULL;
	size_t i, end;

	h->files = r->files;
	h->count = r->file_count;
	h->names = r->names;
	r->names = FILE_NAMES_INIT;
	if (!all)
		return;
	next = find_places(h, &(struct pile){ .entries = all, .count = r->pile.count });
	for (i = 0; i < h->count; i++) {
		for (end = (size_t)(h->files[i].counts - all) + h->files[i].count; next[i] < end;) {
			struct history_count *here = &all[next[i]];
			struct history_count *there = &all[next[here->file - 1]++];
			const struct history_count moved = *here;

			*here = *there;
			*there = moved;
		}
	}
}

/* Whether no slice of @level is in two steps. */
static bool level_fits_steps(unsigned int level, const struct steps *steps)
{
	int64_t slice_ms = history_level(level)->slice_ms;

	return steps->length_ms % slice_ms == 0 && steps->begin_ms % slice_ms == 0;
}

/* Whether none is in part in the window, either. */
static bool level_fits(unsigned int level, const struct steps *steps, const struct window *w)
{
	int64_t slice_ms = history_level(level)->slice_ms;

	return steps && level_fits_steps(level, steps) &&
	       (w->begin_ms == INT64_MIN || w->begin_ms % slice_ms == 0) &&
	       (w->end_ms == INT64_MAX || w->end_ms % slice_ms == 0);
}

/* The coarsest level that fits: it has the same answer as finer ones, in fewer bytes. */
static unsigned int coarsest_level(const struct steps *steps, const struct window *window)
{
	unsigned int level = HISTORY_LEVELS - 1;

	while (level > 0 && !level_fits(level, steps, window))
		level--;
	return level;
}

/* Notes that a source was read. One that is damaged is counted, and that of another level, if there
 * is any, is read instead; -ENOENT: it has vanished. */
static int note_read(struct reading *r, const struct history_source *source, int status)
{
	if (status == 0)
		r->taken[r->taken_count++] = *source;
	if (status != -EBADMSG)
		return status;
	r->damaged += source->bytes;
	return 0;
}

/* Whether a source was read. */
static bool was_read(const struct reading *r, const struct history_source *s)
{
	size_t i;

	for (i = 0; i < r->taken_count; i++)
		if (r->taken[i].level == s->level && r->taken[i].is_segment == s->is_segment &&
		    r->taken[i].first == s->first && r->taken[i].last == s->last)
			return true;
	return false;
}

/* Reads the sources of a level that were not read yet. */
static int read_level(struct reading *r, const struct history_source *list, size_t count,
		      unsigned int level, struct error *err)
{
	_cleanup_free_ struct history_source *of_level = xcalloc(count + 1, sizeof(*of_level));
	size_t n = 0, i;
	int status = 0;

	for (i = 0; i < count; i++)
		if (list[i].level == level && !was_read(r, &list[i]))
			of_level[n++] = list[i];
	if (level)
		return reading_segments(r, of_level, n, note_read, err);
	for (i = 0; i < n && status == 0; i++)
		status = note_read(r, &of_level[i], reading_generation(r, &of_level[i], err));
	return status;
}

/* The coarsest level that what is inside the window is read from: one that this is long for, or
 * whose slices suit the steps. */
static unsigned int level_inside(const struct reading *r, const struct history_source *list,
				 size_t count)
{
	unsigned int level = HISTORY_LEVELS - 1;

	if (!r->steps)
		return sources_level(list, count, r->window);
	while (level > 0 && !level_fits_steps(level, r->steps))
		level--;
	return level;
}

/* Reads what is inside the window from the coarsest levels. */
static int read_inside(struct reading *r, const struct history_source *list, size_t count,
		       struct error *err)
{
	unsigned int level = level_inside(r, list, count);
	int status = 0;

	for (; level > 0 && status == 0; level--) {
		size_t n;
		_cleanup_free_ struct history_source *inside =
			sources_inside(r->dir, list, count, level, r->window, &n);

		status = reading_segments(r, inside, n, note_read, err);
	}
	return status;
}

/* Reads all sources: those that suit the steps, or a long window; then finer, then coarser ones. */
static int read_sources(struct reading *r, const struct history_source *list, size_t count,
			struct error *err)
{
	unsigned int coarsest = coarsest_level(r->steps, r->window), level;
	int status = 0;

	r->taken = xcalloc(2 * count + 1, sizeof(*r->taken));
	status = read_inside(r, list, count, err);
	for (level = coarsest + 1; level > 0 && status == 0; level--)
		status = read_level(r, list, count, level - 1, err);
	for (level = coarsest + 1; level < HISTORY_LEVELS && status == 0; level++)
		status = read_level(r, list, count, level, err);
	return status;
}

static int say_no_history(const char *samples, struct error *err)
{
	return error_set(err, -ENOENT,
			 "%s: no times were recorded; the daemon records them every ten seconds, "
			 "and on 'opcontrol --dump'",
			 samples);
}

/* Reads the directory once; -EAGAIN if one of its files has vanished. */
static int read_once(const char *samples, struct reading *r, struct history **ret,
		     struct error *err)
{
	_cleanup_free_ char *dir = path_join(samples, HISTORY_DIRECTORY);
	_cleanup_(history_freep) struct history *h = xcalloc(1, sizeof(*h));
	_cleanup_free_ struct history_source *list = NULL;
	size_t count;
	int status = sources_list(dir, &history_flat, &list, &count, err);

	if (status < 0)
		return status;
	if (!count)
		return say_no_history(samples, err);
	r->dir = dir;
	status = read_sources(r, list, count, err);
	if (r->top)
		h->cover.rest = reading_name_top(r);
	find_cover(h, r);
	deal_out(h, r);
	reading_done(r);
	if (status == 0)
		*ret = STEAL(h);
	return status == -ENOENT ? -EAGAIN : status;
}

int history_read_wanted(const char *samples, const struct history_wanted *wanted,
			struct history **ret, struct error *err)
{
	int i, r = -EAGAIN;

	/* What a source that has vanished held is in another one, which was not there when the
	 * directory was read. */
	for (i = 0; i < SOURCES_TRIES_MAX && r == -EAGAIN; i++) {
		struct reading reading = { .window = wanted->window,
					   .steps = wanted->steps,
					   .wants_keys = wanted->top ? NULL : wanted->wants_keys,
					   .keys_data = wanted->data,
					   .top = wanted->top,
					   .covers_only = wanted->covers_only };

		r = read_once(samples, &reading, ret, err);
	}
	return r;
}

int history_read(const char *samples, const struct window *window, const struct steps *steps,
		 struct history **ret, struct error *err)
{
	const struct history_wanted all = { .window = window, .steps = steps };

	return history_read_wanted(samples, &all, ret, err);
}

int history_read_idle(const char *samples, struct history **ret, uint32_t *ret_last,
		      struct error *err)
{
	_cleanup_free_ char *dir = path_join(samples, SESSION_IDLE);
	_cleanup_(history_freep) struct history *h = xcalloc(1, sizeof(*h));
	int i, r = -ENOENT;

	/* A segment may be removed as soon as the one after the next is there. */
	for (i = 0; i < SOURCES_TRIES_MAX && r == -ENOENT; i++) {
		struct history_source source = {
			.kind = &history_flat, .level = IDLE_LEVEL, .first = 1, .is_segment = true
		};
		struct reading reading = { .dir = dir, .window = &WINDOW_ALL };

		r = idle_last(samples, &source.last, err);
		*ret_last = source.last;
		if (r < 0 || !source.last)
			return r;
		r = reading_segment(&reading, &source, err);
		if (r == 0)
			deal_out(h, &reading);
		reading_done(&reading);
	}
	if (r == 0)
		*ret = STEAL(h);
	return r;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	free(h->files);
	file_names_done(&h->names);
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

/* The middle of the slice that has the instant @at_ms, in the finest source that has one; else
 * @at_ms. */
static int64_t middle_at(const char *dir, const struct history_source *list, size_t count,
			 int64_t at_ms)
{
	struct window span, slice;
	size_t i;

	for (i = 0; i < count; i++)
		if (source_span(dir, &list[i], &span) == 0 && span.begin_ms <= at_ms &&
		    at_ms < span.end_ms && source_slice(dir, &list[i], at_ms, &slice) == 0)
			return slice.begin_ms + (slice.end_ms - slice.begin_ms) / 2;
	return at_ms;
}

int history_span(const char *samples, const struct window *window, struct window *ret,
		 struct error *err)
{
	_cleanup_free_ char *dir = path_join(samples, HISTORY_DIRECTORY);
	struct window span = { INT64_MAX, INT64_MIN };
	_cleanup_free_ struct history_source *list = NULL;
	size_t count, i;
	int r = sources_list(dir, &history_flat, &list, &count, err);

	if (r < 0)
		return r;
	for (i = 0; i < count; i++) {
		struct window one;

		if (source_span(dir, &list[i], &one) < 0 || !window_overlaps(&one, window))
			continue;
		one.begin_ms = MAX(one.begin_ms, window->begin_ms);
		one.end_ms = MIN(one.end_ms, window->end_ms);
		span.begin_ms = MIN(span.begin_ms, one.begin_ms);
		span.end_ms = MAX(span.end_ms, one.end_ms);
	}
	if (span.begin_ms >= span.end_ms)
		return say_no_history(samples, err);
	ret->begin_ms = MIN(span.begin_ms, middle_at(dir, list, count, span.begin_ms));
	ret->end_ms = MAX(span.end_ms, middle_at(dir, list, count, span.end_ms - 1) + 1);
	return 0;
}

int history_kept(const char *samples, const struct history_kind *kind,
		 struct history_kept ret[HISTORY_LEVELS], struct error *err)
{
	_cleanup_free_ char *dir = path_join(samples, kind->directory);
	_cleanup_free_ struct history_source *list = NULL;
	size_t count, i;
	int r = sources_list(dir, kind, &list, &count, err);

	if (r < 0)
		return r;
	for (i = 0; i < HISTORY_LEVELS; i++)
		ret[i] = (struct history_kept){ .span = { INT64_MAX, INT64_MIN } };
	for (i = 0; i < count; i++) {
		struct history_kept *kept = &ret[list[i].level];
		struct window span;

		if (source_span(dir, &list[i], &span) < 0)
			continue;
		kept->bytes += list[i].bytes;
		kept->files++;
		kept->span.begin_ms = MIN(kept->span.begin_ms, span.begin_ms);
		kept->span.end_ms = MAX(kept->span.end_ms, span.end_ms);
	}
	return 0;
}
