/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/chains.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/parse.h"
#include "profile/rows/internal/chain_filter.h"
#include "profile/rows/internal/chain_frames.h"
#include "profile/select/gather.h"
#include "profile/select/programs.h"
#include "chains/chain_read.h"
#include "history/history_name.h"
#include "history/slice_file.h"
#include "sfile/sfile.h"

#include <errno.h>
#include <string.h>

uint64_t chains_end_in_jit(const struct chains *c)
{
	return c->end_count ? c->ends[CHAIN_END_NO_CODE].samples : 0;
}

void chains_done(struct chains *c)
{
	size_t i;

	for (i = 0; i < c->source_count; i++) {
		chain_reader_close(c->sources[i].reader);
		free(c->sources[i].images);
		free(c->sources[i].ends);
		free(c->sources[i].tasks);
	}
	free(c->sources);
	free(c->event);
	if (c->rows.class_count)
		container_done(&c->rows);
	if (c->by_line.class_count)
		container_done(&c->by_line);
	free(c->lines);
	free(c->moments);
	free(c->parts);
	task_list_done(&c->tasks);
	free(c->frames);
	free(c->ends);
	free(c->is_kernel);
	free(c->quality);
	*c = CHAINS_INIT;
}

/* --- which chains are wanted --- */

/* Whether an image is a region of JIT code of a program that is not known yet. */
static bool is_homeless(const struct gather_image *i)
{
	return i->id.kind == SNAME_ANON && i->id.tgid && i->program == GATHER_NONE &&
	       !strcmp(i->id.name, "anon");
}

/* Adds the programs that the regions of JIT code may belong to which only chains have. */
static void find_programs(struct gather *g, const struct chains_source *s)
{
	const struct chain_names *names = chain_reader_names(s->reader);
	bool is_any = false;
	uint32_t i;

	for (i = 1; i <= chain_names_images(names); i++)
		is_any |= is_homeless(&g->images[s->images[i]]);
	for (i = 1; is_any && i <= chain_names_contexts(names); i++)
		programs_add(g, s->images[chain_names_context_at(names, i)->app]);
}

static int open_source(struct chains *c, struct gather *g, uint32_t session, struct error *err)
{
	struct chains_source *s;
	const struct chain_names *names;
	struct chain_skipped skipped;
	const struct gather_session *from = &g->sessions[session];
	uint32_t i;

	array_grow(&c->sources, c->source_count + 1, &c->source_room);
	s = &c->sources[c->source_count];
	*s = (struct chains_source){ 0 };
	if (chain_reader_open(from->samples, gather_window(from), &s->reader, err) < 0)
		return err->code;
	c->source_count++;
	skipped = chain_reader_skipped(s->reader);
	if (!from->arcs) /* else it was said */
		gather_warn_skipped(from, &skipped);
	names = chain_reader_names(s->reader);
	s->images = xcalloc(chain_names_images(names) + 1, sizeof(*s->images));
	for (i = 1; i <= chain_names_images(names); i++)
		s->images[i] = gather_image(g, session, chain_names_image_at(names, i));
	s->ends = xcalloc(chain_names_contexts(names) + 1, sizeof(*s->ends));
	for (i = 1; i <= chain_names_contexts(names); i++)
		s->ends[i] = chain_ends_find(chain_names_context_at(names, i)->end);
	find_programs(g, s);
	return 0;
}

int chains_open(struct chains *c, struct gather *g, const struct spec *spec, struct error *err)
{
	int failed = 0;
	uint32_t i;

	*c = (struct chains){ .gather = g, .spec = spec };
	for (i = 0; i < g->session_count; i++) {
		struct error why = ERROR_INIT;
		int r = open_source(c, g, i, &why);

		if (r < 0 && r != -ENOENT && failed == 0)
			failed = error_set(err, r, "%s", why.text);
	}
	if (failed < 0 || c->source_count)
		return failed;
	return error_set(err, -ENODATA,
			 "%s: no call chains were recorded%s; profile with --callgraph (operf, "
			 "opcontrol)",
			 g->sessions[0].samples, spec_window(spec) ? " in this time" : "");
}

bool *chains_images(const struct chains *c)
{
	bool *ret = xcalloc(c->gather ? c->gather->image_count + 1 : 1, sizeof(*ret));
	size_t i, k;

	for (i = 0; i < c->source_count; i++) {
		const struct chain_names *names = chain_reader_names(c->sources[i].reader);

		for (k = 1; k <= chain_names_images(names); k++)
			ret[c->sources[i].images[k]] = true;
	}
	return ret;
}

/* --- chains --- */

/* Whether the specification selects the chains of a context whose sample is in some image. */
enum { VERDICT_NO = 1, VERDICT_YES = 2 };

struct collect {
	struct chains *out;
	const struct chains_source *source;
	struct chain_frames *functions;
	struct chain_filter filter;
	struct map lines_by_hash;  /* index + 1 */
	struct map quality_by_key; /* index + 1 */
	struct map wanted;	   /* by context and image of the source: VERDICT_ */
	struct error *err;
	uint32_t *seen; /* by row: the last chain that contained it */
	size_t seen_room;
	uint32_t chain;	     /* number of the current chain */
	size_t slice_moment; /* the first moment of the current slice */
};

const struct row *chains_frame(const struct chains *c, const struct chains_line *line, size_t i)
{
	return &c->rows.rows[c->frames[line->first + i]];
}

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

/* Adds a moment of the line; a slice that ends sets its step. */
static void add_moment(struct chains *c, struct chains_moment moment)
{
	array_grow(&c->moments, c->moment_count + 1, &c->moment_room);
	c->moments[c->moment_count++] = moment;
}

/* The number of the task of a context. */
static uint32_t task_of(const struct collect *c, uint32_t context)
{
	return c->source->tasks ? c->source->tasks[context] : 0;
}

static void add_part(struct chains *c, const struct chains_line *line, uint32_t task,
		     uint64_t samples)
{
	array_grow(&c->parts, c->part_count + 1, &c->part_room);
	c->parts[c->part_count++] =
		(struct chains_moment){ .line = line->id, .task = task, .samples = samples };
}

/* Adds the line whose frames are the last in ->frames, which are kept if it is new. */
static void add_line(struct collect *c, uint32_t context, const struct chains_line *line)
{
	struct chains *out = c->out;
	struct chains_line *known = chains_find_line(out, &c->lines_by_hash, line);

	if (known)
		known->samples += line->samples;
	else
		known = chains_add_line(out, &c->lines_by_hash, line);
	if (out->gather->blocks == GATHER_BLOCKS_OF_SESSIONS)
		add_moment(out,
			   (struct chains_moment){ .line = known->id,
						   .step = (uint32_t)(c->source - out->sources),
						   .samples = line->samples });
	if (out->tasks.count)
		add_part(out, known, task_of(c, context), line->samples);
}

static void add_quality(struct collect *c, uint32_t image, uint32_t end, uint64_t samples)
{
	struct chains *out = c->out;
	uint64_t key = (uint64_t)image << 8 | end;
	uintptr_t known = (uintptr_t)map_get(&c->quality_by_key, key);

	out->ends[end].samples += samples;
	out->samples += samples;
	if (!known) {
		array_grow(&out->quality, out->quality_count + 1, &out->quality_room);
		out->quality[out->quality_count] =
			(struct chains_quality){ .image = image, .end = end };
		known = ++out->quality_count;
		(void)map_set(&c->quality_by_key, key, (void *)known);
	}
	out->quality[known - 1].samples += samples;
}

/* Counts the chain for each function in it, once. */
static void add_inclusive(struct collect *c, const struct chains_line *line)
{
	const uint32_t *ids = c->out->frames + line->first;
	size_t had = c->seen_room, i;

	array_grow(&c->seen, c->out->rows.count, &c->seen_room);
	if (c->seen_room > had)
		memset(c->seen + had, 0, (c->seen_room - had) * sizeof(*c->seen));
	c->out->rows.rows[ids[0]].counts[CHAINS_SELF] += line->samples;
	for (i = 0; i < line->count; i++) {
		if (c->seen[ids[i]] == c->chain)
			continue;
		c->seen[ids[i]] = c->chain;
		c->out->rows.rows[ids[i]].counts[CHAINS_INCLUSIVE] += line->samples;
	}
}

/* Decides whether a context and an image are selected. */
static int judge(struct collect *c, uint32_t context, uint32_t image)
{
	const struct chain_names *names = chain_reader_names(c->source->reader);
	const struct chain_context *x = chain_names_context_at(names, context);
	_cleanup_free_ char *event = xstrdup(x->event);
	struct sname name = { .app = *chain_names_image_at(names, x->app),
			      .image = *chain_names_image_at(names, image),
			      .task = x->task };
	const char *known = c->out->event;

	if (!chain_event_split(event, &name) || spec_reject(c->out->spec, &name) >= 0)
		return VERDICT_NO;
	if (known && strcmp(known, x->event) && !c->out->quality_only)
		return error_set(
			c->err, -EINVAL,
			"a call-chain report takes one event; choose event:%.*s or event:%.*s",
			(int)strcspn(known, "."), known, (int)strcspn(x->event, "."), x->event);
	if (!known)
		c->out->event = xstrdup(x->event);
	return VERDICT_YES;
}

/* Returns whether chains of the context with a sample in the image are selected; or -errno. */
static int want(struct collect *c, uint32_t context, uint32_t image)
{
	uint64_t key = (uint64_t)context << 32 | image;
	intptr_t known = (intptr_t)map_get(&c->wanted, key);

	if (!known) {
		known = judge(c, context, image);
		(void)map_set(&c->wanted, key, (void *)known);
	}
	return (int)known;
}

/* Appends the functions of the chain to ->frames, at the line's ->first. */
static void take_frames(struct collect *c, const struct chain *chain, struct chains_line *line)
{
	struct chains *out = c->out;
	bool in_kernel = false, was_in_kernel;
	size_t i, n;

	for (i = 0; i < chain->count; i++) {
		uint32_t image = c->source->images[chain->frames[i].image];
		const uint32_t *ids;

		was_in_kernel = in_kernel;
		programs_note(out->gather, image, line->app);
		in_kernel = out->is_kernel[image] = chain_frames_is_kernel(c->functions, image);
		/* The address at which the kernel was entered is not a return address. */
		n = chain_frames_find(c->functions, image, chain->frames[i].offset,
				      i && !(was_in_kernel && !in_kernel), &ids);
		array_grow(&out->frames, line->first + line->count + n, &out->frame_room);
		memcpy(out->frames + line->first + line->count, ids, n * sizeof(*ids));
		line->count += (uint32_t)n;
	}
}

/* Gives the line its frames and its true end; false if the chain is not chosen. */
static bool complete_line(struct collect *c, const struct chain *chain, struct chains_line *line)
{
	struct chains *out = c->out;

	take_frames(c, chain, line);
	line->end = true_end(out, line);
	return !out->choice || out->quality_only ||
	       chain_filter_take(&c->filter, out->frames + line->first, &line->count);
}

/* A line of the chain, without frames and with the end that was recorded. */
static struct chains_line new_line(const struct collect *c, uint32_t context,
				   const struct chain *chain)
{
	const struct chain_names *names = chain_reader_names(c->source->reader);

	return (struct chains_line){
		.app = c->source->images[chain_names_context_at(names, context)->app],
		.end = c->source->ends[context],
		.first = (uint32_t)c->out->frame_count,
		.samples = chain->samples,
	};
}

static int take_chain(uint32_t context, const struct chain *chain, void *data)
{
	struct collect *c = data;
	struct chains *out = c->out;
	struct chains_line line = new_line(c, context, chain);
	int r = want(c, context, chain->frames[0].image);
	uint32_t image;

	if (r != VERDICT_YES)
		return MIN(r, 0);
	if ((!out->quality_only || chain_ends_in_doubt(line.end)) &&
	    !complete_line(c, chain, &line)) {
		out->unchosen += line.samples;
		return 0;
	}
	if (chain->frames[0].offset == HISTORY_RARE)
		out->folded += line.samples;
	if (chain->is_function)
		out->of_functions += line.samples;
	image = c->source->images[chain->frames[chain->count - 1].image];
	add_quality(c, out->regions ? image : programs_shown(out->gather, image), line.end,
		    line.samples);
	if (out->quality_only)
		return 0;
	c->chain++;
	add_inclusive(c, &line);
	add_line(c, context, &line);
	return 0;
}

/* --- when --- */

/* Adds a moment of a chain whose line is known; its step is set at the end of the slice. */
static int take_moment(uint32_t context, const struct chain *chain, void *data)
{
	struct collect *c = data;
	struct chains *out = c->out;
	struct chains_line line = new_line(c, context, chain);
	const struct chains_line *known;
	int r = want(c, context, chain->frames[0].image);

	if (r != VERDICT_YES)
		return MIN(r, 0);
	known = complete_line(c, chain, &line) ? chains_find_line(out, &c->lines_by_hash, &line)
					       : NULL;
	if (known) /* else not chosen, or of a slice that was written since */
		add_moment(out, (struct chains_moment){ .line = known->id,
							.task = task_of(c, context),
							.samples = line.samples });
	return 0;
}

static int end_moments(const struct slice *slice, void *data)
{
	struct collect *c = data;
	struct chains *out = c->out;
	const struct window *wanted = spec_window(out->spec);
	const struct window all = { out->steps.begin_ms,
				    steps_window(&out->steps, out->steps.count - 1).end_ms };
	uint32_t step = steps_at(&out->steps, &slice->span);
	size_t i;

	/* The time of what is in a sum is not known: its slice is elsewhere. */
	if (!window_overlaps(&slice->span, wanted ?: &all))
		out->moment_count = c->slice_moment;
	for (i = c->slice_moment; i < out->moment_count; i++)
		out->moments[i].step = step;
	c->slice_moment = out->moment_count;
	return 0;
}

/* Numbers the tasks of all contexts; there are none if all are one task, number 0. */
static void number_tasks(struct chains *c)
{
	size_t i;
	uint32_t k;

	for (i = 0; i < c->source_count; i++) {
		struct chains_source *s = &c->sources[i];
		const struct chain_names *names = chain_reader_names(s->reader);

		s->tasks = xcalloc(chain_names_contexts(names) + 1, sizeof(*s->tasks));
		for (k = 1; k <= chain_names_contexts(names); k++)
			s->tasks[k] =
				task_list_add(&c->tasks, &chain_names_context_at(names, k)->task);
	}
	if (!task_list_separates(&c->tasks))
		task_list_done(&c->tasks);
}

static void collect_done(struct collect *c)
{
	chain_frames_free(c->functions);
	chain_filter_done(&c->filter);
	map_done(&c->lines_by_hash);
	map_done(&c->quality_by_key);
	free(c->seen);
}

int chains_collect(struct chains *c, struct binaries *bs, struct error *err)
{
	struct collect collect = { .out = c,
				   .filter = { c->gather, &c->rows, c->choice, NULL, 0, 0 },
				   .err = err };
	const struct chain_visitor when = { .each = take_moment,
					    .end = end_moments,
					    .data = &collect };
	size_t i;
	int r = 0;

	container_init(&c->rows, CHAINS_CLASS_COUNT_);
	c->ends = xcalloc(ARRAY_SIZE(chain_ends), sizeof(*c->ends));
	memcpy(c->ends, chain_ends, sizeof(chain_ends));
	c->end_count = ARRAY_SIZE(chain_ends);
	collect.functions = chain_frames_new(
		&(struct chain_frames_config){ c->gather, &c->rows, bs, c->inlines, c->regions });
	c->is_kernel = xcalloc(c->gather->image_count, sizeof(*c->is_kernel));
	if (c->by_task)
		number_tasks(c);
	for (i = 0; i < c->source_count && r == 0; i++) {
		collect.source = &c->sources[i];
		r = chain_reader_each(c->sources[i].reader, take_chain, &collect);
		if (r == 0 && c->steps.count)
			r = chain_reader_each_slice(c->sources[i].reader, &when);
		map_done(&collect.wanted);
	}
	c->rows.totals[CHAINS_SELF] = c->rows.totals[CHAINS_INCLUSIVE] = c->samples;
	collect_done(&collect);
	if (r == 0 && !c->samples)
		r = error_set(err, -ENODATA, "%s: no call chain %s", c->gather->sessions[0].samples,
			      c->unchosen ? "contains a chosen function; --children lists those "
					    "that they contain"
					  : "matches the specification");
	return r;
}
