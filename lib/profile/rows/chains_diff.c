/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/chains_diff.h"

#include "base/map.h"
#include "base/mem.h"
#include "profile/rows/chains.h"
#include "profile/rows/diff.h"
#include "profile/rows/diff_builds.h"
#include "profile/rows/diff_match.h"
#include "profile/select/gather.h"

#include <errno.h>
#include <string.h>

/* --- blocks --- */

/* Counts of blocks of a container's rows; rows with few samples, which show nothing of how much
 * they vary, have none. */
struct blocks {
	struct container *container;
	uint64_t **of_rows; /* by row, or NULL */
	size_t slots;	    /* counts for each class: the first is not used */
};

static struct blocks blocks_new(struct container *c, const struct gather *g, size_t count)
{
	enum { SAMPLES_LEAST = 8 };
	struct blocks b = { c, xcalloc(c->count + 1, sizeof(uint64_t *)), count + 1 };
	size_t size = c->class_count * b.slots * sizeof(uint64_t), i;

	c->block_count = count;
	c->blocks_are_sessions = g->blocks == GATHER_BLOCKS_OF_SESSIONS;
	c->block_lengths = gather_block_lengths(g);
	c->block_totals = xcalloc(1, size);
	for (i = 0; i < c->count; i++) {
		struct row *row = &c->rows[i];

		if (row->counts[c->class_count - 1] < SAMPLES_LEAST)
			continue;
		row->blocks = b.of_rows[i] = memset(arena_alloc(&c->arena, size), 0, size);
	}
	return b;
}

static void add_block(const struct blocks *b, uint32_t row, size_t class,
		      const struct chains_moment *moment)
{
	if (b->of_rows[row])
		b->of_rows[row][class * b->slots + 1 + moment->step] += moment->samples;
}

static void add_totals(const struct blocks *b, const struct chains_moment *moment)
{
	size_t i;

	for (i = 0; i < b->container->class_count; i++)
		b->container->block_totals[i * b->slots + 1 + moment->step] += moment->samples;
}

/* Adds up what the moments of the lines say of lines and functions. */
static void count_blocks(struct chains *c, size_t count)
{
	struct blocks lines = blocks_new(&c->by_line, c->gather, count);
	struct blocks rows = blocks_new(&c->rows, c->gather, count);
	_cleanup_free_ size_t *seen = xcalloc(c->rows.count + 1, sizeof(*seen));
	size_t i, k;

	for (i = 0; i < c->moment_count; i++) {
		const struct chains_moment *m = &c->moments[i];
		const struct chains_line *line = &c->lines[m->line];
		const uint32_t *ids = c->frames + line->first;

		add_totals(&lines, m);
		add_totals(&rows, m);
		add_block(&lines, line->id, 0, m);
		add_block(&rows, ids[0], CHAINS_SELF, m);
		for (k = 0; k < line->count; k++) {
			if (seen[ids[k]] != i + 1)
				add_block(&rows, ids[k], CHAINS_INCLUSIVE, m);
			seen[ids[k]] = i + 1;
		}
	}
	free(lines.of_rows);
	free(rows.of_rows);
}

/* Whether there are enough blocks. Those of time must have nearly all samples: what is in a sum has
 * none, and the rest does not show how much the whole varies. */
static bool has_blocks(const struct chains *c, bool are_sessions, size_t count)
{
	enum { SESSIONS_LEAST = 2 };
	uint64_t timed = 0;
	size_t i;

	for (i = 0; i < c->moment_count; i++)
		timed += c->moments[i].samples;
	return are_sessions ? count >= SESSIONS_LEAST
			    : count >= STATISTICS_BLOCKS_LEAST && timed >= c->samples / 100 * 99;
}

/* Makes a row for each line, and the blocks of lines and functions if there are enough. */
static void make_lines(struct chains *c)
{
	bool are_sessions = c->gather->blocks == GATHER_BLOCKS_OF_SESSIONS;
	size_t count = are_sessions ? c->source_count : c->steps.count, i;

	container_init(&c->by_line, 1);
	c->by_line.weight = c->rows.weight;
	c->by_line.squares[0] = c->rows.squares[CHAINS_SELF];
	c->by_line.totals[0] = c->samples;
	for (i = 0; i < c->line_count; i++)
		container_add_row(&c->by_line, &(struct row){ .image = c->lines[i].app,
							      .app = GATHER_NONE,
							      .kind = ROW_IMAGE })
			->counts[0] = c->lines[i].samples;
	if (has_blocks(c, are_sessions, count))
		count_blocks(c, count);
}

/* --- builds of one path --- */

/* The samples of each image, also of applications; caller frees. */
static uint64_t *samples_of(const struct chains *c)
{
	uint64_t *samples = diff_builds_samples(c->gather, &c->rows);
	size_t i;

	for (i = 0; i < c->line_count; i++)
		samples[c->lines[i].app] += c->lines[i].samples;
	return samples;
}

/* Counts each line once for each function in it, now that several may be one. */
static void count_inclusive(struct chains *c)
{
	_cleanup_free_ size_t *seen = xcalloc(c->rows.count + 1, sizeof(*seen));
	size_t i, k;

	for (i = 0; i < c->rows.count; i++)
		c->rows.rows[i].counts[CHAINS_INCLUSIVE] = 0;
	for (i = 0; i < c->line_count; i++) {
		const struct chains_line *line = &c->lines[i];

		for (k = 0; k < line->count; k++) {
			uint32_t id = c->frames[line->first + k];

			if (seen[id] != i + 1)
				c->rows.rows[id].counts[CHAINS_INCLUSIVE] += line->samples;
			seen[id] = i + 1;
		}
	}
}

/* Adds up lines that are the same now. @ids becomes the new one by id of each line. */
static void join_lines(struct chains *c, uint32_t *ids)
{
	size_t count = c->line_count, frames = c->frame_count, i;
	struct map by_hash = MAP_INIT;

	c->line_count = 0;
	for (i = 0; i < count; i++) {
		struct chains_line line = c->lines[i];
		struct chains_line *known = chains_find_line(c, &by_hash, &line);

		ids[line.id] = known ? known->id : (uint32_t)c->line_count;
		if (known)
			known->samples += line.samples;
		else
			(void)chains_add_line(c, &by_hash, &line);
	}
	c->frame_count = frames; /* they stayed in their places */
	map_done(&by_hash);
}

/* Adds up the functions and the lines of builds. */
static void join_builds(struct chains *c, const struct diff_builds *builds, unsigned int side)
{
	_cleanup_free_ uint32_t *rows = xcalloc(c->rows.count + 1, sizeof(*rows));
	_cleanup_free_ uint32_t *lines = xcalloc(c->line_count + 1, sizeof(*lines));
	size_t i;

	if (!builds->any[side])
		return;
	diff_builds_join(builds, side, &c->rows, c->gather, rows);
	for (i = 0; i < c->frame_count; i++)
		c->frames[i] = rows[c->frames[i]];
	for (i = 0; i < c->line_count; i++)
		c->lines[i].app = builds->shown[side][c->lines[i].app];
	join_lines(c, lines);
	for (i = 0; i < c->moment_count; i++)
		c->moments[i].line = lines[c->moments[i].line];
	for (i = 0; i < c->part_count; i++)
		c->parts[i].line = lines[c->parts[i].line];
	count_inclusive(c);
}

/* --- matching --- */

/* By number of the second profile: what the first has, and its partners. */
struct partners {
	const uint32_t *images, *rows;
};

/* A line of the first profile in numbers of the second; its frames are the last in ->frames
 * there. */
static struct chains_line translate(const struct chains *from, const struct chains_line *line,
				    struct chains *to, struct partners partners)
{
	struct chains_line made = *line;
	size_t i;

	made.app = partners.images[line->app];
	made.first = (uint32_t)to->frame_count;
	array_grow(&to->frames, to->frame_count + line->count, &to->frame_room);
	for (i = 0; i < line->count; i++)
		to->frames[made.first + i] = partners.rows[from->frames[line->first + i]];
	return made;
}

/* Returns the row of the second profile for each line of the first, or GATHER_NONE; adds these
 * lines to the second. Caller frees. */
static uint32_t *match_lines(const struct chains *first, struct chains *second,
			     struct partners partners)
{
	uint32_t *found = xcalloc(first->line_count + 1, sizeof(*found));
	struct map by_hash = MAP_INIT;
	size_t i;

	chains_index_lines(second, &by_hash);
	for (i = 0; i < first->line_count; i++) {
		struct chains_line line = translate(first, &first->lines[i], second, partners);
		const struct chains_line *known = chains_find_line(second, &by_hash, &line);

		found[i] = known ? known->id : GATHER_NONE;
		if (!known)
			(void)chains_add_line(second, &by_hash, &line);
	}
	map_done(&by_hash);
	return found;
}

/* Says of the images of both profiles whether they are the kernel. */
static void extend_kernel(const struct chains *first, struct chains *second, size_t had,
			  const uint32_t *images)
{
	size_t count = second->gather->image_count, i;
	bool *is_kernel = xcalloc(count, sizeof(*is_kernel));

	memcpy(is_kernel, second->is_kernel, had * sizeof(*is_kernel));
	for (i = 0; i < first->gather->image_count; i++)
		is_kernel[images[i]] |= first->is_kernel[i];
	free(second->is_kernel);
	second->is_kernel = is_kernel;
}

int chains_compare(struct chains *first, struct chains *second, struct chains_binaries binaries,
		   struct error *err)
{
	const struct diff_side a = { first->gather, binaries.first, NULL, &first->rows };
	const struct diff_side b = { second->gather, binaries.second, NULL, &second->rows };
	size_t had = second->gather->image_count;
	_cleanup_free_ uint32_t *images = NULL, *rows = NULL, *lines = NULL;
	const struct gather *const gathers[2] = { first->gather, second->gather };
	_cleanup_free_ uint64_t *of_first = NULL, *of_second = NULL;
	_cleanup_(diff_builds_done) struct diff_builds builds = { 0 };

	if (strcmp(first->event, second->event) != 0)
		return error_set(err, -EINVAL,
				 "the two profiles have chains of different events: the first %s; "
				 "the second %s; choose what both have with event:NAME or count:N",
				 first->event, second->event);
	of_first = samples_of(first);
	of_second = samples_of(second);
	diff_builds_find(gathers, (const uint64_t *const[2]){ of_first, of_second }, &builds);
	join_builds(first, &builds, 0);
	join_builds(second, &builds, 1);
	make_lines(first);
	make_lines(second);
	images = diff_match_images(first->gather, second->gather,
				   &(struct diff_images){ builds.sampled[0], builds.sampled[1] });
	diff_builds_name(&builds, second->gather);
	extend_kernel(first, second, had, images);
	rows = diff_match_rows(&a, &b, images);
	diff_join(&first->rows, &second->rows, images, rows);
	lines = match_lines(first, second, (struct partners){ images, rows });
	diff_join(&first->by_line, &second->by_line, images, lines);
	return 0;
}
