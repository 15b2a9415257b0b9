/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/chains.h"

#include "base/mem.h"
#include "history/history_name.h"
#include "history/slice_file.h"
#include "profile/rows/internal/chain_frames.h"
#include "profile/rows/internal/chains_plant.h"
#include "profile/rows/internal/chains_take.h"
#include "profile/select/gather.h"
#include "profile/select/programs.h"
#include "chains/chain_read.h"

#include <errno.h>
#include <string.h>

/* --- chains --- */

/* Adds the line whose frames are the last in ->frames, which are kept if it is new. */
static void add_line(struct chains_collect *c, uint32_t context, const struct chains_line *line)
{
	struct chains *out = c->out;
	struct chains_line *known = chains_find_line(out, &c->lines_by_hash, line);

	if (known)
		known->samples += line->samples;
	else
		known = chains_add_line(out, &c->lines_by_hash, line);
	if (out->gather->blocks == GATHER_BLOCKS_OF_SESSIONS)
		chains_take_moment(
			c, (struct chains_moment){ .line = known->id,
						   .step = (uint32_t)(c->source - out->sources),
						   .samples = line->samples });
	chains_take_part(c, known->id, context, line->samples);
}

/* Counts the chain for each function in it, once. */
static void add_inclusive(struct chains_collect *c, const struct chains_line *line)
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

static int take_chain(uint32_t context, const struct chain *chain, void *data)
{
	struct chains_collect *c = data;
	struct chains *out = c->out;
	struct chains_line line = chains_take_line(c, context, chain->samples);
	int r = chains_take_want(c, context, chain->frames[0].image);

	if (r != CHAINS_TAKE_YES)
		return MIN(r, 0);
	if ((!out->quality_only || chain_ends_in_doubt(line.end)) &&
	    !chains_take_frames(c, chain, &line)) {
		out->unchosen += line.samples;
		return 0;
	}
	chains_take_count(c, chain, &line);
	if (out->quality_only)
		return 0;
	c->chain++;
	add_inclusive(c, &line);
	if (!out->rows_only)
		add_line(c, context, &line);
	return 0;
}

/* --- when --- */

/* Adds a moment of a chain whose line is known; its step is set at the end of the slice. */
static int take_moment(uint32_t context, const struct chain *chain, void *data)
{
	struct chains_collect *c = data;
	struct chains *out = c->out;
	struct chains_line line = chains_take_line(c, context, chain->samples);
	const struct chains_line *known;
	int r = chains_take_want(c, context, chain->frames[0].image);

	if (r != CHAINS_TAKE_YES)
		return MIN(r, 0);
	known = chains_take_frames(c, chain, &line)
			? chains_find_line(out, &c->lines_by_hash, &line)
			: NULL;
	if (known) /* else not chosen, or of a slice that was written since */
		chains_take_moment(c, (struct chains_moment){ .line = known->id,
							      .task = chains_take_task(c, context),
							      .samples = line.samples });
	return 0;
}

static bool wants_slice(const struct slice *slice, void *data)
{
	const struct chains_collect *c = data;

	return chains_take_slice(c->out, slice);
}

static int end_moments(const struct slice *slice, void *data)
{
	struct chains_collect *c = data;
	struct chains *out = c->out;
	uint32_t step = steps_at(&out->steps, &slice->span);
	size_t i;

	for (i = c->slice_moment; i < out->moment_count; i++)
		out->moments[i].step = step;
	c->slice_moment = out->moment_count;
	return 0;
}

/* The task, without what does not divide samples. */
static struct sname_task task_for(const struct chains *c, const struct chains_source *s,
				  const struct sname_task *task)
{
	struct sname_task ret = c->outer ? SNAME_TASK_ALL : *task;

	if (c->outer == CHAINS_OUTER_HOST)
		ret.comm = s->host;
	if (c->outer == CHAINS_OUTER_CGROUP)
		ret.cgroup = task->cgroup;
	if (c->outer == CHAINS_OUTER_COMM)
		ret.comm = task->comm;
	return ret;
}

/* Numbers the tasks of all contexts; there are none if all are one task, number 0, of
 * any source. */
static void number_tasks(struct chains *c)
{
	size_t i;
	uint32_t k;

	for (i = 0; i < c->source_count; i++) {
		struct chains_source *s = &c->sources[i];
		const struct chain_names *names = chain_reader_names(s->reader);

		s->tasks = xcalloc(chain_names_contexts(names) + 1, sizeof(*s->tasks));
		for (k = 1; k <= chain_names_contexts(names); k++) {
			const struct sname_task task =
				task_for(c, s, &chain_names_context_at(names, k)->task);

			s->tasks[k] = task_list_add(&c->tasks, &task);
		}
	}
	if (!c->by_source && !task_list_separates(&c->tasks))
		task_list_done(&c->tasks);
}

static void collect_done(struct chains_collect *c)
{
	chain_frames_free(c->functions);
	chain_filter_done(&c->filter);
	call_merge_done(&c->merge);
	map_done(&c->bases);
	map_done(&c->lines_by_hash);
	map_done(&c->quality_by_key);
	free(c->seen);
	free(c->latest);
}

static int list_source(struct chains_collect *c)
{
	const struct chain_visitor when = { .steps = &c->out->steps,
					    .wants = wants_slice,
					    .each = take_moment,
					    .end = end_moments,
					    .data = c };
	int r = chain_reader_each(c->source->reader, take_chain, c);

	return r == 0 && c->out->steps.count ? chain_reader_each_slice(c->source->reader, &when)
					     : r;
}

/* The tree is large: then nothing is needed any more of the files that it was made from, except to
 * know when samples were taken, or if the caller needs them. */
static int plant_source(struct chains_collect *c)
{
	int r = chains_plant(c);

	if (!c->out->steps.count && !c->out->is_read_again)
		chain_reader_close_files(c->source->reader);
	return r;
}

int chains_collect(struct chains *c, struct binaries *bs, struct error *err)
{
	struct chains_collect collect = { .out = c,
					  .filter = { .gather = c->gather,
						      .rows = &c->rows,
						      .choice = c->choice,
						      .native = { .gather = c->gather,
								  .rows = &c->rows } },
					  .err = err };
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
	if (c->wants_tree)
		call_tree_init(&c->tree, 0);
	collect.merge.tree = &c->tree;
	for (i = 0; i < c->source_count && r == 0; i++) {
		collect.source = &c->sources[i];
		r = c->wants_tree ? plant_source(&collect) : list_source(&collect);
		map_done(&collect.wanted);
	}
	chain_frames_free(collect.functions); /* with the symbols of all images */
	collect.functions = NULL;
	if (c->wants_tree)
		chains_plant_end(&collect);
	c->rows.totals[CHAINS_SELF] = c->rows.totals[CHAINS_INCLUSIVE] = c->samples;
	collect_done(&collect);
	if (r == 0 && !c->samples)
		r = error_set(err, -ENODATA, "%s: no call chain %s", c->gather->sessions[0].samples,
			      c->unchosen ? "contains a chosen function; --children lists those "
					    "that they contain"
					  : "matches the specification");
	return r;
}
