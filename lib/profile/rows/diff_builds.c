/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/diff_builds.h"

#include "base/mem.h"
#include "profile/rows/container.h"
#include "profile/rows/row_detail.h"
#include "profile/rows/row_join.h"
#include "profile/select/gather.h"
#include "sfile/sname.h"

#include <stdlib.h>
#include <string.h>

uint64_t *diff_builds_samples(const struct gather *g, const struct container *c)
{
	uint64_t *samples = xcalloc(g->image_count + 1, sizeof(*samples));
	size_t i;

	for (i = 0; i < c->count; i++) {
		const struct row *row = &c->rows[i];
		uint64_t sum = container_sum(row->counts, c->class_count);

		samples[row->image] += sum ?: 1;
		if (row->app != GATHER_NONE && row->app != row->image)
			samples[row->app] += sum ?: 1;
	}
	return samples;
}

/* A file with samples on one side. */
struct build {
	const struct gather_image *of;
	uint32_t image;
	unsigned int side;
	uint64_t samples;
};

static int compare_paths(const struct build *a, const struct build *b)
{
	if (a->of->id.kind != b->of->id.kind)
		return (a->of->id.kind > b->of->id.kind) - (a->of->id.kind < b->of->id.kind);
	return strcmp(a->of->display, b->of->display);
}

static int compare_builds(const void *pa, const void *pb)
{
	const struct build *a = pa, *b = pb;
	int r = compare_paths(a, b) ?: strcmp(a->of->shown, b->of->shown);

	if (r == 0)
		r = (a->side > b->side) - (a->side < b->side);
	return r ? r : (a->image > b->image) - (a->image < b->image);
}

/* The builds of one path, on both sides. */
struct path {
	const struct build *builds;
	size_t count;
	size_t counts[2];
	uint64_t totals[2];
	const struct build *largest[2];
};

static struct path path_of(const struct build *builds, size_t count)
{
	struct path p = { .builds = builds, .count = count };
	size_t i;

	for (i = 0; i < count; i++) {
		const struct build *b = &builds[i];

		p.counts[b->side]++;
		p.totals[b->side] += b->samples;
		if (!p.largest[b->side] || b->samples > p.largest[b->side]->samples)
			p.largest[b->side] = b;
	}
	return p;
}

/* The part of the path's samples that is of the same builds in both profiles. */
static double shared_part(const struct path *p)
{
	double shared = 0;
	size_t i;

	for (i = 1; i < p->count; i++) {
		const struct build *a = &p->builds[i - 1], *b = &p->builds[i];

		if (a->side < b->side && !strcmp(a->of->shown, b->of->shown))
			shared += MIN((double)a->samples / (double)p->totals[0],
				      (double)b->samples / (double)p->totals[1]);
	}
	return shared;
}

static bool must_join(const struct path *p)
{
	return p->counts[0] && p->counts[1] && p->counts[0] + p->counts[1] > 2 &&
	       shared_part(p) < 0.5;
}

static void note_path(struct diff_builds *b, const struct path *p)
{
	size_t i;

	if (!must_join(p))
		return;
	for (i = 0; i < p->count; i++) {
		const struct build *build = &p->builds[i];
		uint32_t shown = p->largest[build->side]->image;

		b->shown[build->side][build->image] = shown;
		b->joined[build->side][build->image] = b->any[build->side] = true;
		b->sampled[build->side][build->image] = build->image == shown;
	}
}

/* Adds the files with samples to the list, and prepares the numbers of one side. */
static size_t add_side(struct diff_builds *b, unsigned int side, const struct gather *g,
		       const uint64_t *samples, struct build *list)
{
	size_t count = b->counts[side] = g->image_count, n = 0, i;

	b->shown[side] = xcalloc(count + 1, sizeof(*b->shown[side]));
	b->joined[side] = xcalloc(count + 1, sizeof(*b->joined[side]));
	b->sampled[side] = xcalloc(count + 1, sizeof(*b->sampled[side]));
	for (i = 0; i < count; i++) {
		b->shown[side][i] = (uint32_t)i;
		b->sampled[side][i] = samples[i] > 0;
		if (samples[i] && g->images[i].id.kind != SNAME_ANON)
			list[n++] = (struct build){ &g->images[i], (uint32_t)i, side, samples[i] };
	}
	return n;
}

void diff_builds_find(const struct gather *const gathers[2], const uint64_t *const samples[2],
		      struct diff_builds *ret)
{
	size_t room = gathers[0]->image_count + gathers[1]->image_count + 1, n, i, end;
	_cleanup_free_ struct build *list = xcalloc(room, sizeof(*list));

	*ret = (struct diff_builds){ 0 };
	n = add_side(ret, 0, gathers[0], samples[0], list);
	n += add_side(ret, 1, gathers[1], samples[1], list + n);
	qsort(list, n, sizeof(*list), compare_builds);
	for (i = 0; i < n; i = end) {
		struct path path;

		for (end = i + 1; end < n && compare_paths(&list[i], &list[end]) == 0;)
			end++;
		path = path_of(&list[i], end - i);
		note_path(ret, &path);
	}
}

/* --- rows --- */

static const uint64_t *add_blocks(struct container *c, const struct row *a, const struct row *b)
{
	size_t count = c->class_count * (c->block_count + 1), i;
	uint64_t *sums;

	if (!c->block_count || !a->blocks || !b->blocks)
		return NULL;
	sums = arena_alloc(&c->arena, count * sizeof(*sums));
	for (i = 0; i < count; i++)
		sums[i] = a->blocks[i] + b->blocks[i];
	return sums;
}

/* Adds @row, which has the number of another image now if it is not of the one that @is_shown. */
static void add_row(struct container *c, struct row *to, const struct row *row, bool is_shown)
{
	size_t i;

	for (i = 0; i < c->class_count; i++)
		to->counts[i] += row->counts[i];
	to->blocks = add_blocks(c, to, row);
	detail_join(to, row);
	if (!is_shown)
		return;
	to->symbol = row->symbol;
	to->symbol_index = row->symbol_index;
	to->address = row->address;
	to->place = row->place;
}

void diff_builds_join(const struct diff_builds *b, unsigned int side, struct container *c,
		      const struct gather *g, uint32_t *ids)
{
	const uint32_t *shown = b->shown[side];
	/* Functions of other files have the same addresses whatever the application's build. */
	struct row_join by_name = { .by_hash = MAP_INIT };
	struct row_join by_address = { .by_hash = MAP_INIT, .by_address = true };
	size_t i, n = 0;

	for (i = 0; i < c->count && b->any[side]; i++) {
		struct row *row = &c->rows[i];
		bool has_app = row->app != GATHER_NONE, is_shown = shown[row->image] == row->image;
		struct row_join *join = b->joined[side][row->image]	       ? &by_name
					: has_app && b->joined[side][row->app] ? &by_address
									       : NULL;
		uint32_t id = row->id;
		size_t at;

		row->image = shown[row->image];
		row->app = has_app ? shown[row->app] : GATHER_NONE;
		at = join ? row_join_find(join, c, g, row) : SIZE_MAX;
		if (at == SIZE_MAX) {
			at = n++;
			c->rows[at] = *row;
			c->rows[at].id = (uint32_t)at;
			if (join)
				row_join_note(join, &c->rows[at], at);
		} else {
			add_row(c, &c->rows[at], row, is_shown);
		}
		if (ids)
			ids[id] = (uint32_t)at;
	}
	c->count = b->any[side] ? n : c->count;
	row_join_done(&by_name);
	row_join_done(&by_address);
}

void diff_builds_name(const struct diff_builds *b, struct gather *second)
{
	size_t i;

	for (i = 0; i < b->counts[1]; i++) {
		struct gather_image *image = &second->images[i];

		if (!b->joined[1][i])
			continue;
		image->has_builds = b->shown[1][i] == i;
		image->suffix = "";
		image->shown = image->display;
		image->kernel = image->kernel ? SNAME_KERNEL_WORD : NULL;
	}
}

void diff_builds_done(struct diff_builds *b)
{
	unsigned int side;

	for (side = 0; side < 2; side++) {
		free(b->shown[side]);
		free(b->joined[side]);
		free(b->sampled[side]);
	}
	*b = (struct diff_builds){ 0 };
}
