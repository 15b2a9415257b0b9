/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/line_choice.h"

#include "base/mem.h"
#include "base/parse.h"
#include "profile/rows/container.h"
#include "profile/rows/row_detail.h"
#include "profile/select/gather.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A line of the file in one row. */
struct candidate {
	size_t row;
	struct row_place place;
	int64_t distance; /* in lines from the start of the function, if that is known */
	bool has_start;
	uint64_t *counts;   /* one per class */
	unsigned int first; /* known line of the row */
};

/* The candidates of all rows, those of a row next to each other. */
struct candidates {
	const struct line_choice *choice;
	struct container *container;
	const uint64_t *ages; /* by image */
	struct candidate *list;
	size_t count, room;
};

bool line_choice_parse(const char *text, struct line_choice *ret)
{
	const char *colon = strrchr(text, ':');
	uint64_t line;

	if (!colon || colon == text || colon[-1] == ':' || strpbrk(text, "[],*?") ||
	    parse_u64(colon + 1, 1, UINT32_MAX, &line) < 0)
		return false;
	*ret = (struct line_choice){ xstrndup(text, (size_t)(colon - text)), (unsigned int)line };
	return true;
}

void line_choice_done(struct line_choice *choice)
{
	free(choice->file);
	*choice = (struct line_choice){ 0 };
}

bool line_choice_has(const struct line_choice *choice, const char *path)
{
	size_t own = strlen(choice->file), its = path ? strlen(path) : 0;

	return path && its >= own && !strcmp(path + its - own, choice->file) &&
	       (its == own || choice->file[0] == '/' || path[its - own - 1] == '/');
}

/* --- collecting --- */

static struct candidate *candidate_of(struct candidates *all, size_t first, size_t row,
				      const struct row_place *place)
{
	const struct row_place *start = &all->container->rows[row].place;
	bool has_start = line_choice_has(all->choice, start->file);
	struct candidate *c;
	size_t i;

	for (i = all->count; i > first; i--)
		if (all->list[i - 1].place.line == place->line)
			return &all->list[i - 1];
	array_grow(&all->list, all->count + 1, &all->room);
	c = &all->list[all->count++];
	*c = (struct candidate){
		row, *place, has_start ? (int64_t)place->line - (int64_t)start->line : 0, has_start,
		arena_alloc(&all->container->arena, all->container->class_count * sizeof(uint64_t))
	};
	memset(c->counts, 0, all->container->class_count * sizeof(uint64_t));
	return c;
}

static void add_counts(uint64_t *to, const uint64_t *counts, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		to[i] += counts[i];
}

static void collect_row(struct candidates *all, size_t row)
{
	struct container *c = all->container;
	size_t first = all->count, i;
	unsigned int lowest = UINT_MAX;
	struct detail d;

	detail_begin(&d, c, &c->rows[row]);
	while (detail_next(&d))
		add_counts(candidate_of(all, first, row, &d.place)->counts, d.counts,
			   c->class_count);
	detail_done(&d);
	for (i = first; i < all->count; i++)
		lowest = MIN(lowest, all->list[i].place.line);
	for (i = first; i < all->count; i++)
		all->list[i].first = lowest;
}

/* --- the line that is meant --- */

static uint32_t image_of(const struct candidates *all, const struct candidate *c)
{
	return all->container->rows[c->row].image;
}

/* The newest build that has the line and is older than @age; GATHER_NONE: there is none. */
static uint32_t next_build(const struct candidates *all, uint64_t age)
{
	uint32_t newest = GATHER_NONE;
	size_t i;

	for (i = 0; i < all->count; i++) {
		uint32_t image = image_of(all, &all->list[i]);

		if (all->list[i].place.line == all->choice->line && all->ages[image] < age &&
		    (newest == GATHER_NONE || all->ages[image] > all->ages[newest]))
			newest = image;
	}
	return newest;
}

/* Whether both are in functions of the same name. */
static bool is_of_function(const struct candidates *all, const struct candidate *c,
			   const struct candidate *meant)
{
	const struct row *row = &all->container->rows[c->row],
			 *its = &all->container->rows[meant->row];

	return row->symbol && its->symbol && !strcmp(row->symbol->name, its->symbol->name);
}

/* --- matching --- */

/* The lines that are meant: that of one build in each of its functions. */
struct meaning {
	const struct candidate **list;
	size_t count;
	uint32_t image;
};

static struct meaning meaning_of(const struct candidates *all, uint32_t image)
{
	struct meaning m = { xcalloc(all->count + 1, sizeof(*m.list)), 0, image };
	size_t i;

	for (i = 0; i < all->count; i++)
		if (image_of(all, &all->list[i]) == image &&
		    all->list[i].place.line == all->choice->line)
			m.list[m.count++] = &all->list[i];
	return m;
}

static const struct candidate *meant_in(const struct candidates *all, const struct meaning *m,
					const struct candidate *c)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		if (is_of_function(all, c, m->list[i]))
			return m->list[i];
	return NULL;
}

/* The candidates of one row. */
struct lines_of_row {
	const struct candidate *list;
	size_t count;
	bool by_number; /* a function has no known start: by its first known line */
};

/* How far down a line is: from the start of its function, or from its first known line. */
static int64_t depth(struct lines_of_row r, const struct candidate *c)
{
	return r.by_number ? (int64_t)c->place.line - (int64_t)c->first : c->distance;
}

static struct lines_of_row lines_of_row(const struct candidates *all, size_t row)
{
	struct lines_of_row r = { .list = all->list };
	size_t i;

	for (i = 0; i < all->count; i++) {
		if (all->list[i].row != row)
			continue;
		r.list = r.count ? r.list : &all->list[i];
		r.count++;
	}
	return r;
}

/* The line with this text that is nearest to the depth @at, or NULL. */
static const struct candidate *find_text(struct lines_of_row r, uint32_t text, int64_t at)
{
	const struct candidate *best = NULL;
	size_t i;

	for (i = 0; i < r.count; i++)
		if (r.list[i].place.text == text &&
		    (!best || llabs(depth(r, &r.list[i]) - at) < llabs(depth(r, best) - at)))
			best = &r.list[i];
	return best;
}

static const struct candidate *find_depth(struct lines_of_row r, int64_t at)
{
	size_t i;

	for (i = 0; i < r.count; i++)
		if (depth(r, &r.list[i]) == at)
			return &r.list[i];
	return NULL;
}

/* The line of @r that is as far from a line that both functions have as @meant is, of the nearest
 * such line: its text has changed. NULL: there is none, or it is another line of @meant's. */
static const struct candidate *find_neighbour(struct lines_of_row r, struct lines_of_row its,
					      const struct candidate *meant)
{
	const struct candidate *best = NULL, *c;
	int64_t least = INT64_MAX;
	size_t i;

	for (i = 0; i < its.count; i++) {
		const struct candidate *near = &its.list[i];
		int64_t off = depth(r, meant) - depth(r, near);

		c = near->place.text ? find_text(r, near->place.text, depth(r, near)) : NULL;
		if (!c || llabs(off) >= least)
			continue;
		least = llabs(off);
		best = find_depth(r, depth(r, c) + off);
	}
	return best && !find_text(its, best->place.text, depth(r, best)) ? best : NULL;
}

static bool has_texts(struct lines_of_row r)
{
	size_t i;

	for (i = 0; i < r.count; i++)
		if (r.list[i].place.text)
			return true;
	return false;
}

/* Finds the line in another build; NULL: it does not have the line. */
static const struct candidate *match(const struct candidates *all, struct lines_of_row r,
				     const struct candidate *meant, enum row_found *ret)
{
	const struct candidate *c;

	r.by_number = !meant->has_start || !r.list->has_start;
	*ret = ROW_BY_NUMBER;
	if (!meant->place.text || !has_texts(r))
		return find_depth(r, depth(r, meant));
	*ret = ROW_BY_TEXT;
	c = find_text(r, meant->place.text, depth(r, meant));
	if (c)
		return c;
	*ret = ROW_BY_NEIGHBOUR;
	return find_neighbour(r, lines_of_row(all, meant->row), meant);
}

/* Gives a row the counts of the line in it; zeros if it does not have the line. */
static void set_row(const struct candidates *all, struct row *row, const struct candidate *c,
		    enum row_found found)
{
	size_t bytes = all->container->class_count * sizeof(*row->counts);

	memcpy(row->counts, c ? c->counts : all->container->none, bytes);
	row->place = c ? c->place : (struct row_place){ 0 };
	row->found = found;
}

/* Matches the candidates of a row. Whether the row stays. */
static bool choose_row(const struct candidates *all, const struct meaning *m, struct lines_of_row r)
{
	struct row *row = &all->container->rows[r.list->row];
	const struct candidate *meant = meant_in(all, m, r.list), *c = NULL;
	enum row_found found = ROW_BY_TEXT;
	size_t i;

	if (!meant)
		return false;
	if (row->image != m->image)
		c = match(all, r, meant, &found);
	for (i = 0; i < r.count && row->image == m->image; i++)
		if (r.list[i].place.line == all->choice->line)
			c = &r.list[i];
	set_row(all, row, c, found);
	return true;
}

/* Matches all rows with the line of one build. Whether any samples are there. */
static bool choose_rows(const struct candidates *all, uint32_t image, bool *stays)
{
	struct container *c = all->container;
	struct meaning m = meaning_of(all, image);
	bool has_samples = false;
	size_t i;

	for (i = 0; i < all->count;) {
		struct lines_of_row r = lines_of_row(all, all->list[i].row);
		size_t row = r.list->row;

		stays[row] = choose_row(all, &m, r);
		has_samples |= stays[row] && container_sum(c->rows[row].counts, c->class_count) > 0;
		i += r.count;
	}
	free(m.list);
	return has_samples;
}

int line_choice_rows(const struct line_choice *choice, const uint64_t *ages, struct container *c,
		     struct error *err)
{
	struct candidates all = { .choice = choice, .container = c, .ages = ages };
	_cleanup_free_ bool *stays = xcalloc(c->count + 1, sizeof(*stays));
	bool is_found = false;
	size_t i, n = 0;
	uint32_t image;

	for (i = 0; i < c->count; i++)
		collect_row(&all, i);
	image = next_build(&all, UINT64_MAX);
	while (image != GATHER_NONE && !is_found) {
		is_found = choose_rows(&all, image, stays);
		image = next_build(&all, ages[image]);
	}
	for (i = 0; i < c->count; i++)
		if (stays[i])
			c->rows[n++] = c->rows[i];
	c->count = n;
	free(all.list);
	return is_found ? 0
			: error_set(err, -ENODATA,
				    "%s:%u: no samples in this line; is there debug "
				    "information (-g)?",
				    choice->file, choice->line);
}
