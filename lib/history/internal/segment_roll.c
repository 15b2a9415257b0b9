/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/segment_roll.h"

#include "base/mem.h"
#include "history/segment_writer.h"

#include <errno.h>
#include <stdlib.h>

/* What is rolled up. */
struct input {
	struct segment *segment;
	uint32_t *numbers; /* in the tree, by node */
};

struct segment_roll {
	const struct segment_rolling *how;
	struct input *inputs;
	size_t count, inputs_room;
	struct segment_tree tree;
	int damaged; /* slices, when they were added up */
	int missing; /* slices, when they were written */

	/* The slice that is being added up. */
	struct segment_writer *writer;
	struct segment_slice slice;
	int64_t period;
	bool has_slice;
	struct segment_count *counts;
	size_t counted, room;
};

/* Adds the tree of a segment; returns the numbers of its nodes, caller frees. */
static uint32_t *merge_tree(struct segment_roll *r, struct segment *s)
{
	const struct segment_about *about = segment_about(s);
	_cleanup_free_ uint32_t *lines = xcalloc(about->lines + 1, sizeof(*lines));
	uint32_t *numbers = xcalloc(about->nodes + 1, sizeof(*numbers)), i;

	for (i = 1; i <= about->lines; i++)
		lines[i] = segment_tree_line(&r->tree, segment_line(s, i));
	segment_tree_merge(&r->tree, segment_nodes(s), about->nodes, lines, numbers);
	return numbers;
}

/* Adds the counts of an input to the tree. They are those of its slices, not its totals: if one is
 * damaged, the new totals are the sum of the others. */
static void add_counts(struct segment_roll *r, const struct input *input)
{
	struct segment *s = input->segment;
	struct segment_counts c;
	size_t i, k;

	for (i = 0; i < segment_about(s)->slices; i++) {
		if (segment_counts(s, i, &c) < 0) {
			r->damaged++;
			continue;
		}
		for (k = 0; k < c.count; k++)
			segment_tree_count(&r->tree, input->numbers[c.nodes[k]], c.counts[k]);
	}
}

static void end_slice(struct segment_roll *r)
{
	if (r->has_slice)
		segment_writer_slice(r->writer, &r->slice, r->counts, r->counted);
	r->has_slice = false;
	r->counted = 0;
}

/* Adds the numbers of a slice to those of the new one, or begins a new one. */
static void join_slice(struct segment_roll *r, const struct segment_slice *next)
{
	int64_t period = next->slice.span.begin_ms / r->how->slice_ms;
	struct segment_slice *s = &r->slice;

	if (r->has_slice && (period != r->period || next->generation != s->generation))
		end_slice(r);
	if (!r->has_slice) {
		r->has_slice = true;
		r->period = period;
		*s = *next;
		return;
	}
	s->slice.span.begin_ms = MIN(s->slice.span.begin_ms, next->slice.span.begin_ms);
	s->slice.span.end_ms = MAX(s->slice.span.end_ms, next->slice.span.end_ms);
	s->slice.samples += next->slice.samples;
	s->slice.taken += next->slice.taken;
	s->slice.lost += next->slice.lost;
	s->slice.cpu_ms += next->slice.cpu_ms;
	s->covered_ms += next->covered_ms;
}

static void roll_slices(struct segment_roll *r, const struct input *input)
{
	struct segment *s = input->segment;
	struct segment_counts c;
	size_t i, k;

	for (i = 0; i < segment_about(s)->slices; i++) {
		if (segment_counts(s, i, &c) < 0) {
			r->missing++;
			continue;
		}
		join_slice(r, segment_slice_at(s, i));
		array_grow(&r->counts, r->counted + c.count + 1, &r->room);
		for (k = 0; k < c.count; k++)
			r->counts[r->counted++] =
				(struct segment_count){ input->numbers[c.nodes[k]], c.counts[k] };
	}
	segment_unload(s);
}

/* The sum of all counts. */
static uint64_t sum_of(const struct segment_tree *t)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 1; i <= t->count; i++)
		if (__builtin_add_overflow(sum, t->counts[i], &sum))
			return UINT64_MAX;
	return sum;
}

/* About how many slices there will be: as many as fit. */
static size_t slices_of(const struct segment_roll *r)
{
	struct window span = { INT64_MAX, INT64_MIN };
	size_t i;

	for (i = 0; i < r->count; i++) {
		const struct segment_about *about = segment_about(r->inputs[i].segment);

		if (!about->slices)
			continue;
		span.begin_ms = MIN(span.begin_ms, about->span.begin_ms);
		span.end_ms = MAX(span.end_ms, about->span.end_ms);
	}
	return span.begin_ms < span.end_ms
		       ? (size_t)((span.end_ms - span.begin_ms) / r->how->slice_ms) + 1
		       : 1;
}

static int write_segment(struct segment_roll *r, struct strbuf *out)
{
	const struct segment_folding folding = {
		.threshold = r->how->part ? sum_of(&r->tree) / r->how->part : 0,
		.other = r->how->other,
		.functions = r->how->functions,
	};
	size_t count = r->tree.count, i;
	_cleanup_free_ uint64_t *counts =
		r->how->is_small ? xmemdup(r->tree.counts, (count + 1) * sizeof(*counts)) : NULL;
	const struct segment_forecast forecast = { counts, slices_of(r) };
	_cleanup_free_ uint32_t *to = segment_tree_fold(&r->tree, &folding);
	_cleanup_(segment_writer_freep) struct segment_writer *w = NULL;

	segment_tree_end(&r->tree);
	r->writer = w = segment_writer_new(&r->tree, to, count, counts ? &forecast : NULL);
	for (i = 0; i < r->count; i++)
		roll_slices(r, &r->inputs[i]);
	end_slice(r);
	return segment_writer_finish(w, &r->how->about, out);
}

struct segment_roll *segment_roll_new(void)
{
	struct segment_roll *r = xcalloc(1, sizeof(*r));

	segment_tree_init(&r->tree);
	return r;
}

void segment_roll_free(struct segment_roll *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->count; i++)
		free(r->inputs[i].numbers);
	free(r->inputs);
	free(r->counts);
	segment_tree_done(&r->tree);
	free(r);
}

size_t segment_roll_add(struct segment_roll *r, struct segment *s)
{
	const struct input input = { s, merge_tree(r, s) };

	add_counts(r, &input);
	segment_unload(s);
	array_grow(&r->inputs, r->count + 1, &r->inputs_room);
	r->inputs[r->count++] = input;
	return r->tree.count;
}

int segment_roll_end(struct segment_roll *r, const struct segment_rolling *how, struct strbuf *out)
{
	int status;

	r->how = how;
	status = write_segment(r, out);
	/* One that could be read a moment ago is not left out: the new segment replaces its only
	 * source. */
	if (status == 0 && r->missing > r->damaged)
		status = -EIO;
	return status < 0 ? status : r->damaged;
}

int segment_roll(const struct segment_rolling *how, struct segment *const *inputs, size_t count,
		 struct strbuf *out)
{
	_cleanup_(segment_roll_freep) struct segment_roll *r = segment_roll_new();
	size_t i;

	for (i = 0; i < count; i++)
		(void)segment_roll_add(r, inputs[i]);
	return segment_roll_end(r, how, out);
}
