/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/build_totals.h"

#include "base/hash.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/mem.h"
#include "profile/select/classes.h"
#include "profile/select/file_counts.h"
#include "profile/select/gather.h"

#include <stdlib.h>
#include <string.h>

/* The first image with the path of @image. */
static uint32_t program_of(const struct gather *g, uint32_t image, struct map *by_path)
{
	const char *path = g->images[image].display;
	uint64_t hash = hash_bytes(path, strlen(path));
	uintptr_t number;

	map_for_each_of(by_path, hash, number)
	{
		if (!strcmp(g->images[number - 1].display, path))
			return (uint32_t)number - 1;
	}
	map_add(by_path, hash, (void *)((uintptr_t)image + 1));
	return image;
}

/* Numbers the programs; adds sums, of nothing yet, to all builds of those in use. */
static void find_builds(struct build_totals *b, size_t class_count, const bool *is_used)
{
	const uint32_t count = (uint32_t)b->gather->image_count;
	_cleanup_free_ bool *has_used = xcalloc(count + 1, sizeof(*has_used));
	struct map by_path = { 0 };
	uint32_t i;

	for (i = 0; i < count; i++) {
		b->programs[i] = program_of(b->gather, i, &by_path);
		has_used[b->programs[i]] |= is_used[i];
	}
	for (i = 0; i < count; i++)
		if (has_used[b->programs[i]])
			b->sums[i] = xcalloc(class_count + 1, sizeof(**b->sums));
	map_done(&by_path);
}

void build_totals_make(const struct gather *g, const struct classes *classes, const bool *is_used,
		       struct build_totals *ret)
{
	size_t i;

	*ret = (struct build_totals){ g, xcalloc(g->image_count + 1, sizeof(*ret->programs)),
				      xcalloc(g->image_count + 1, sizeof(*ret->sums)) };
	find_builds(ret, classes->count, is_used);
	for (i = 0; i < g->file_count; i++) {
		_cleanup_(file_counts_closep) struct file_counts *counts = NULL;
		const struct gather_file *f = &g->files[i];

		/* Who made the rows has warned of those that cannot be read. */
		if (f->callee == GATHER_NONE && !f->is_rest && ret->sums[f->image] &&
		    file_counts_open(f, &counts, NULL) == 0)
			file_counts_add_sums(counts, classes->of_file[i], ret->sums[f->image]);
	}
}

void build_totals_done(struct build_totals *b)
{
	size_t i;

	for (i = 0; i < b->gather->image_count; i++)
		free(b->sums[i]);
	free(b->sums);
	free(b->programs);
}

/* A build of a program: its samples in the parts of the time, the first and the end of those. */
struct build {
	const uint64_t *sums;
	size_t from, end;
};

static struct build build_of(const uint64_t *sums, size_t count)
{
	struct build b = { sums, 0, count };

	while (b.from < b.end && !sums[b.from])
		b.from++;
	while (b.end > b.from && !sums[b.end - 1])
		b.end--;
	return b;
}

/* What @b has in part @at, if it is in use in part @part: before it, and after it, or there. */
static uint64_t samples_at(const struct build *b, size_t part, size_t at)
{
	return part >= b->from && part < b->end ? b->sums[at] : 0;
}

/* The part of @total that is of @own, whose samples are in @list, too, in part @part. */
static uint64_t portion(const struct build *own, const struct build *list, size_t count,
			size_t part, uint64_t total)
{
	uint64_t all = 0;
	size_t at, i;

	if (part < own->from || part >= own->end)
		return 0;
	for (at = part + 1; at > 0 && !all; at--)
		for (i = 0; i < count; i++)
			all += samples_at(&list[i], part, at - 1);
	return (uint64_t)((unsigned __int128)total * own->sums[at] / all);
}

void build_totals_of(const struct build_totals *b, uint32_t image, size_t first,
		     const uint64_t *totals, size_t count, uint64_t *ret)
{
	const struct gather *g = b->gather;
	_cleanup_free_ struct build *list = xcalloc(g->image_count + 1, sizeof(*list));
	const struct build own = build_of(b->sums[image] + first, count);
	size_t builds = 0, i;

	for (i = 0; i < g->image_count; i++)
		if (b->sums[i] && b->programs[i] == b->programs[image])
			list[builds++] = build_of(b->sums[i] + first, count);
	for (i = 0; i < count; i++)
		ret[i] = portion(&own, list, builds, i, totals[i]);
}
