/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/part.h"

#include "base/mem.h"
#include "history/history_source.h"
#include "history/levels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool part_is_taken(const struct part_wanted *w, uint32_t generation)
{
	size_t i;

	for (i = 0; i < w->taken_count; i++)
		if (w->taken[i].first <= generation && generation <= w->taken[i].last)
			return true;
	return false;
}

/* The slices of coarser levels are made of ones of ten seconds, and so cross the full minute or
 * hour by up to some more than that. A window that begins or ends there is not meant to have all of
 * such a slice: it must have more of it in common, if both are much longer. */
static int64_t least_shared_ms(const struct window *slice, const struct window *wanted)
{
	const int64_t most_ms = HISTORY_SLICE_MS + HISTORY_SLICE_MS / 10,
		      slice_ms = slice->end_ms - slice->begin_ms;
	int64_t wanted_ms, shorter_ms;

	if (slice_ms <= 2 * (int64_t)HISTORY_SLICE_MS)
		return 0;
	if (__builtin_sub_overflow(wanted->end_ms, wanted->begin_ms, &wanted_ms))
		wanted_ms = INT64_MAX;
	shorter_ms = MIN(slice_ms, wanted_ms);
	return MIN(most_ms, shorter_ms / 4);
}

bool part_wants(const struct part_wanted *w, const struct segment_slice *s)
{
	const struct window *slice = &s->slice.span, shared = window_shared(slice, w->window);

	return shared.end_ms - shared.begin_ms > 0 &&
	       shared.end_ms - shared.begin_ms >= least_shared_ms(slice, w->window) &&
	       !part_is_taken(w, s->generation);
}

struct extent part_extent(const struct segment_slice *s, unsigned int level)
{
	int64_t length_ms = s->slice.span.end_ms - s->slice.span.begin_ms,
		covered_ms = (int64_t)MIN(s->covered_ms, (uint64_t)length_ms);

	return (struct extent){ s->slice, length_ms - covered_ms, level };
}

static void add_extent(struct part *p, const struct segment_slice *s)
{
	array_grow(&p->extents, p->extent_count + 1, &p->extent_room);
	p->extents[p->extent_count++] = part_extent(s, p->source->level);
}

/* Adds the slices that are wanted, step by step. */
static void add_slices(struct part *p, const struct part_wanted *w)
{
	size_t count = segment_about(p->segment)->slices, i;
	_cleanup_free_ bool *wanted = xcalloc(count + 1, sizeof(*wanted));

	for (i = 0; i < count; i++)
		wanted[i] = part_wants(w, segment_slice_at(p->segment, i));
	if (!w->covers_only)
		segment_steps_add(&p->counts, p->segment,
				  &(struct segment_stepping){ .steps = w->steps }, wanted);
	for (i = 0; i < count; i++)
		if (wanted[i])
			add_extent(p, segment_slice_at(p->segment, i));
}

/* Adds the sums of all slices at once; false if they are not available, or not all are wanted. */
static bool add_totals(struct part *p, const struct part_wanted *w)
{
	const struct segment_about *about = segment_about(p->segment);
	const uint64_t *totals;
	uint32_t i;

	for (i = 0; i < about->slices; i++)
		if (w->steps || !part_wants(w, segment_slice_at(p->segment, i)))
			return false;
	if (segment_totals(p->segment, &totals, NULL) < 0)
		return false;
	for (i = 1; i <= about->nodes; i++)
		if (totals[i])
			segment_steps_add_count(&p->counts,
						(struct segment_step_count){ i, 0, totals[i] });
	for (i = 0; i < about->slices; i++)
		add_extent(p, segment_slice_at(p->segment, i));
	return true;
}

static int open_segment(struct part *p, const struct part_wanted *w)
{
	_cleanup_free_ char *path = source_path(w->dir, p->source);
	const struct segment_about *about;
	int r = segment_open(path, &p->segment, &p->err);

	if (r < 0)
		return r;
	about = segment_about(p->segment);
	if (about->level != p->source->level || about->first != p->source->first ||
	    about->last != p->source->last)
		return error_set(&p->err, -EBADMSG, "%s: has the name of another segment", path);
	if (window_overlaps(&about->span, w->window))
		return w->covers_only ? 0 : segment_load(p->segment, &p->err);
	segment_free(p->segment);
	p->segment = NULL;
	return 0;
}

void part_read(struct part *p, const struct part_wanted *w)
{
	p->status = open_segment(p, w);
	if (p->status < 0 || !p->segment)
		return;
	if (!w->by_slice && (w->covers_only || !add_totals(p, w)))
		add_slices(p, w);
}

void part_done(struct part *p)
{
	segment_free(p->segment);
	segment_steps_done(&p->counts);
	free(p->extents);
	*p = (struct part){ .source = p->source };
}
