/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/chains_take.h"

#include "base/mem.h"
#include "profile/rows/internal/chain_frames.h"
#include "history/history_name.h"
#include "history/slice_file.h"
#include "profile/select/gather.h"
#include "profile/select/programs.h"
#include "chains/chain_read.h"

#include <errno.h>
#include <string.h>

/* Returns whether the outermost frame is in a function without callers, which ends a chain however
 * it was found. */
static bool is_at_entry(const struct chains *c, const struct chains_line *line)
{
	const struct row *row = chains_frame(c, line, line->count - 1);

	return row->kind == ROW_SYMBOL && chain_ends_is_entry(row->symbol->name);
}

static bool is_among(const struct row *row, const char *const *names, size_t count)
{
	size_t i;

	for (i = 0; row->kind == ROW_SYMBOL && i < count; i++)
		if (!strcmp(row->symbol->name, names[i]))
			return true;
	return false;
}

/* Whether a chain that does not leave the kernel is in a task that has no user space, or not the
 * one that it came from: the task exits or executes something. */
static bool has_no_user_space(const struct chains *c, const struct chains_line *line)
{
	static const char *const doing[] = { "do_exit", "bprm_execve", "begin_new_exec" };
	size_t i;

	if (!c->is_kernel[chains_frame(c, line, line->count - 1)->image])
		return false;
	for (i = 0; i < line->count; i++)
		if (is_among(chains_frame(c, line, i), doing, ARRAY_SIZE(doing)))
			return true;
	return false;
}

static uint32_t true_end(const struct chains *c, const struct chains_line *line)
{
	bool complete = chain_ends_in_doubt(line->end) &&
			(is_at_entry(c, line) || has_no_user_space(c, line));

	return complete ? CHAIN_END_COMPLETE : line->end;
}

/* The number of what is known about chains that end in an image for a reason, from 1 on. */
static uintptr_t quality_of(struct chains_collect *c, uint32_t image, uint32_t end)
{
	struct chains *out = c->out;
	const struct chains_quality *last =
		out->quality_count ? &out->quality[c->last_quality] : NULL;
	const uint64_t key = (uint64_t)image << 8 | end;
	uintptr_t known;

	if (last && last->image == image && last->end == end) /* most often */
		return c->last_quality + 1;
	known = (uintptr_t)map_get(&c->quality_by_key, key);
	if (known)
		return known;
	array_grow(&out->quality, out->quality_count + 1, &out->quality_room);
	out->quality[out->quality_count] = (struct chains_quality){ .image = image, .end = end };
	known = ++out->quality_count;
	(void)map_set(&c->quality_by_key, key, (void *)known);
	return known;
}

static void add_quality(struct chains_collect *c, uint32_t image, uint32_t end, uint64_t samples)
{
	struct chains *out = c->out;

	c->last_quality = quality_of(c, image, end) - 1;
	out->ends[end].samples += samples;
	out->samples += samples;
	out->quality[c->last_quality].samples += samples;
}

static int several_events(const char *a, const char *b, struct error *err)
{
	_cleanup_free_ char *first = chains_event_text(a), *second = chains_event_text(b);

	return error_set(err, -EINVAL,
			 "a call-chain report takes one event; add event:%s or event:%s to the "
			 "command",
			 first, second);
}

/* Decides whether a context and an image are selected. */
static int judge(struct chains_collect *c, uint32_t context, uint32_t image)
{
	const struct chain_names *names = chain_reader_names(c->source->reader);
	const struct chain_context *x = chain_names_context_at(names, context);
	_cleanup_free_ char *event = xstrdup(x->event);
	struct sname name = { .app = *chain_names_image_at(names, x->app),
			      .image = *chain_names_image_at(names, image),
			      .task = x->task };
	const char *known = c->out->event;

	if (!chain_event_split(event, &name) || spec_reject(c->out->spec, &name) >= 0 ||
	    (c->out->no_time && sname_event_is_time(x->event)))
		return CHAINS_TAKE_NO;
	if (known && strcmp(known, x->event) && !c->out->quality_only)
		return several_events(known, x->event, c->err);
	if (!known)
		c->out->event = xstrdup(x->event);
	return CHAINS_TAKE_YES;
}

int chains_take_want(struct chains_collect *c, uint32_t context, uint32_t image)
{
	uint64_t key = (uint64_t)context << 32 | image;
	intptr_t known = (intptr_t)map_get(&c->wanted, key);

	if (!known) {
		known = judge(c, context, image);
		(void)map_set(&c->wanted, key, (void *)known);
	}
	return (int)known;
}

bool chains_take_image(struct chains_collect *c, uint32_t image, uint32_t app)
{
	programs_note(c->out->gather, image, app);
	return c->out->is_kernel[image] = chain_frames_is_kernel(c->functions, image);
}

/* Appends the functions of the chain to ->frames, at the line's ->first. */
static void add_frames(struct chains_collect *c, const struct chain *chain,
		       struct chains_line *line)
{
	struct chains *out = c->out;
	bool in_kernel = false, was_in_kernel;
	size_t i, n;

	for (i = 0; i < chain->count; i++) {
		uint32_t image = c->source->images[chain->frames[i].image];
		const uint32_t *ids;

		was_in_kernel = in_kernel;
		in_kernel = chains_take_image(c, image, line->app);
		n = chain_frames_find(c->functions, image, chain->frames[i].offset,
				      chain_frames_role(!i, in_kernel, was_in_kernel), &ids);
		array_grow(&out->frames, line->first + line->count + n, &out->frame_room);
		memcpy(out->frames + line->first + line->count, ids, n * sizeof(*ids));
		line->count += (uint32_t)n;
	}
}

bool chains_take_frames(struct chains_collect *c, const struct chain *chain,
			struct chains_line *line)
{
	struct chains *out = c->out;

	add_frames(c, chain, line);
	line->end = true_end(out, line);
	return !out->choice || out->quality_only ||
	       chain_filter_take(&c->filter, line->app, out->frames + line->first, &line->count);
}

struct chains_line chains_take_line(const struct chains_collect *c, uint32_t context,
				    uint64_t samples)
{
	const struct chain_names *names = chain_reader_names(c->source->reader);

	return (struct chains_line){
		.app = programs_same(
			c->out->gather,
			c->source->images[chain_names_context_at(names, context)->app]),
		.end = c->source->ends[context],
		.first = (uint32_t)c->out->frame_count,
		.samples = samples,
	};
}

void chains_take_count(struct chains_collect *c, const struct chain *chain,
		       const struct chains_line *line)
{
	struct chains *out = c->out;
	uint32_t image = c->source->images[chain->frames[chain->count - 1].image];

	if (chain->frames[0].offset == HISTORY_RARE)
		out->folded += line->samples;
	if (chain->is_function)
		out->of_functions += line->samples;
	add_quality(c,
		    out->regions ? programs_same(out->gather, image)
				 : programs_shown(out->gather, image),
		    line->end, line->samples);
}

uint32_t chains_take_task(const struct chains_collect *c, uint32_t context)
{
	return c->source->tasks ? c->source->tasks[context] : 0;
}

/* Makes room for the lines up to number @line. The first time, it does for all lines, because zeros
 * of new memory cost nothing until they are used. */
static void grow_latest(struct chains_collect *c, uint32_t line)
{
	size_t had = c->latest_room;

	if (!had) {
		c->latest_room = MAX(c->out->line_count, (size_t)line + 1);
		c->latest = xcalloc(c->latest_room, sizeof(*c->latest));
		return;
	}
	array_grow(&c->latest, (size_t)line + 1, &c->latest_room);
	memset(c->latest + had, 0, (c->latest_room - had) * sizeof(*c->latest));
}

void chains_take_moment(struct chains_collect *c, struct chains_moment moment)
{
	struct chains *out = c->out;
	struct chains_moment *known;

	if (moment.line >= c->latest_room)
		grow_latest(c, moment.line);
	/* Many chains of the files are one line, so there would be several times as many. */
	if (c->latest[moment.line] > c->slice_moment) {
		known = &out->moments[c->latest[moment.line] - 1];
		if (known->task == moment.task && known->step == moment.step) {
			known->samples += moment.samples;
			return;
		}
	}
	array_grow(&out->moments, out->moment_count + 1, &out->moment_room);
	out->moments[out->moment_count++] = moment;
	c->latest[moment.line] = (uint32_t)out->moment_count;
}

void chains_take_part(struct chains_collect *c, uint32_t line, uint32_t context, uint64_t samples)
{
	struct chains *out = c->out;

	if (!out->tasks.count)
		return;
	array_grow(&out->parts, out->part_count + 1, &out->part_room);
	out->parts[out->part_count++] = (struct chains_moment){
		.line = line,
		.step = out->by_source ? (uint32_t)(c->source - out->sources) : 0,
		.task = chains_take_task(c, context),
		.samples = samples
	};
}

bool chains_take_slice(const struct chains *c, const struct slice *slice)
{
	const struct steps *steps = &c->steps;
	const struct window *wanted = spec_window(c->spec);
	const struct window all = { steps->begin_ms, steps_window(steps, steps->count - 1).end_ms };

	/* The time of what is in a sum is not known: its slice is elsewhere. */
	return window_overlaps(&slice->span, wanted ?: &all);
}
