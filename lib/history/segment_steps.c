/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/segment_steps.h"

#include "base/mem.h"
#include "history/segment.h"
#include "history/steps.h"

#include <stdlib.h>

/* Counts of the nodes of a segment in the slices of a step. */
struct step {
	const uint32_t *numbers; /* of nodes, or NULL */
	uint64_t *sums;		 /* by number */
	uint32_t *touched;
	size_t count;
	uint32_t at; /* its own number */
};

void segment_steps_add_count(struct segment_steps *to, struct segment_step_count count)
{
	array_grow(&to->counts, to->count + 1, &to->room);
	to->counts[to->count++] = count;
}

static void end_step(struct segment_steps *to, struct step *step)
{
	size_t i;

	array_grow(&to->counts, to->count + step->count, &to->room);
	for (i = 0; i < step->count; i++) {
		uint32_t node = step->touched[i];

		to->counts[to->count++] =
			(struct segment_step_count){ node, step->at, step->sums[node] };
		step->sums[node] = 0;
	}
	step->count = 0;
}

static void add_to_step(struct step *step, const struct segment_counts *c)
{
	size_t i;

	for (i = 0; i < c->count; i++) {
		uint32_t number = step->numbers ? step->numbers[c->nodes[i]] : c->nodes[i];
		uint64_t *sum = &step->sums[number];

		if (!number || !c->counts[i])
			continue;
		if (!*sum)
			step->touched[step->count++] = number;
		if (__builtin_add_overflow(*sum, c->counts[i], sum))
			*sum = UINT64_MAX;
	}
}

void segment_steps_add(struct segment_steps *to, struct segment *s,
		       const struct segment_stepping *how, bool *wanted)
{
	const struct segment_about *about = segment_about(s);
	const size_t room = how->numbers ? how->number_count : about->nodes + 1;
	_cleanup_free_ uint64_t *sums = xcalloc(room, sizeof(*sums));
	_cleanup_free_ uint32_t *touched = xcalloc(room, sizeof(*touched));
	struct step step = { .numbers = how->numbers, .sums = sums, .touched = touched };
	size_t i;

	for (i = 0; i < about->slices; i++) {
		const struct segment_slice *slice = segment_slice_at(s, i);
		uint32_t at = how->steps ? steps_at(how->steps, &slice->slice.span) : 0;
		struct segment_counts c;

		if (!wanted[i])
			continue;
		wanted[i] = segment_counts(s, i, &c) == 0;
		if (!wanted[i]) {
			to->damaged += slice->bytes;
			continue;
		}
		if (at != step.at)
			end_step(to, &step);
		step.at = at;
		add_to_step(&step, &c);
	}
	end_step(to, &step);
}

void segment_steps_done(struct segment_steps *s)
{
	free(s->counts);
	*s = (struct segment_steps){ 0 };
}
