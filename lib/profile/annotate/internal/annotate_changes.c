/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/annotate_changes.h"

#include "base/mem.h"
#include "base/sequence.h"
#include "profile/rows/diff.h"

#include <stdlib.h>
#include <string.h>

static struct annotate_change change_of(const struct annotate_rows *rows, unsigned int side,
					uint32_t number, bool is_loose)
{
	return (struct annotate_change){ .container = &rows->sides[1],
					 .row = annotate_rows_at(rows, side, number),
					 .is_loose = is_loose };
}

struct annotate_change annotate_change_of_line(const struct annotate_diff *d, unsigned int side,
					       const struct annotate_line *line)
{
	const struct annotate_places *s = &d->places;

	if (!line)
		return (struct annotate_change){ 0 };
	if (line->is_loose)
		return change_of(&s->loose, 1, line->number, true);
	if (line->number == ANNOTATE_NONE && side == 1 && line->partner != ANNOTATE_NONE)
		return change_of(&s->rows, 0, s->lines[0][line->partner].number, false);
	return change_of(&s->rows, side, line->number, false);
}

struct annotate_change annotate_change_of_file(const struct annotate_diff *d,
					       const struct annotate_file *file)
{
	struct annotate_change c = change_of(&d->places.file_rows, 1, file->number, file->is_loose);

	if (!c.row && file->partner != ANNOTATE_NONE)
		c.row = annotate_rows_at(&d->places.file_rows, 0,
					 d->places.files[0][file->partner].number);
	return c;
}

struct annotate_change annotate_change_of_function(const struct annotate_diff *d, uint32_t function,
						   const struct row *row)
{
	const struct annotate_function *f =
		function == ANNOTATE_NONE ? NULL : &d->pair.functions[1][function];

	return (struct annotate_change){ .container = &d->pair.rows.sides[1],
					 .row = row,
					 .is_loose = f && f->partner == ANNOTATE_NONE &&
						     annotate_pair_is_blind(&d->pair, f->view) };
}

struct annotate_change annotate_change_of_left(const struct annotate_left *left, size_t row)
{
	const struct container *c = &left->rows.sides[1];

	return (struct annotate_change){ .container = c, .row = &c->rows[row], .is_left = true };
}

struct annotate_change annotate_change_of_code(const struct annotate_diff *d,
					       const struct annotate_listing *f, unsigned int side,
					       size_t i, const uint32_t *inverse)
{
	const struct annotate_listings *l = &d->listings;
	uint32_t number = f->numbers[side][i];

	if (f->is_loose)
		return change_of(&l->loose, 1, number, number != ANNOTATE_NONE);
	if (number == ANNOTATE_NONE && side == 1 && inverse && inverse[i] != ANNOTATE_NONE)
		return change_of(&l->rows, 0, f->numbers[0][inverse[i]], false);
	return change_of(&l->rows, side, number, false);
}

uint32_t *annotate_changes_invert(const uint32_t *partners, size_t from, size_t count)
{
	uint32_t *inverse = xcalloc(count + 1, sizeof(*inverse));
	size_t i;

	for (i = 0; i < count; i++)
		inverse[i] = ANNOTATE_NONE;
	for (i = 0; partners && i < from; i++)
		if (partners[i] != SEQUENCE_NONE)
			inverse[partners[i]] = (uint32_t)i;
	return inverse;
}

size_t annotate_changes_before(const uint32_t *inverse, size_t i, size_t count, size_t first)
{
	if (i && inverse[i] == ANNOTATE_NONE && inverse[i - 1] == ANNOTATE_NONE)
		return 0; /* they were before that one */
	while (i < count && inverse[i] == ANNOTATE_NONE)
		i++;
	return i < count ? inverse[i] : first;
}

/* --- files --- */

/* Why a file is not shown; NULL: it is. */
static const char *why_hidden(const struct annotate_diff *d, const struct annotate_file *f,
			      const struct row *row)
{
	const struct annotate_config *c = d->sides[1].annotate->config;

	if ((c->include_files.count && !patterns_match_path(&c->include_files, f->path)) ||
	    patterns_match_path(&c->exclude_files, f->path))
		return "in source files that were not selected";
	if (!container_reaches(&d->places.file_rows.sides[1], row, c->threshold))
		return "in source files below the threshold";
	return NULL;
}

/* Adds what a file has on a side, except what is in the rest already. */
static void hide_side(struct annotate_diff *d, unsigned int side, uint32_t file, const char *why)
{
	struct annotate_places *s = &d->places;
	struct annotate *a = d->sides[side].annotate;
	uint64_t *counts = annotate_counts(a);
	size_t i, k;

	for (i = 0; i < s->line_count[side]; i++) {
		const struct annotate_line *line = &s->lines[side][i];
		struct annotate_rows *rows = line->is_loose ? &s->loose : &s->rows;

		if (line->file != file || line->number == ANNOTATE_NONE)
			continue;
		for (k = 0; k < a->totals.class_count; k++)
			counts[k] += annotate_rows_counts(rows, side, line->number)[k];
	}
	annotate_add_rest(a, ANNOTATE_NONE, why, counts);
}

static int compare_shown(const void *pa, const void *pb)
{
	const struct annotate_shown *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->file > b->file) - (a->file < b->file);
}

struct annotate_shown *annotate_changes_files(struct annotate_diff *d, size_t *ret_count)
{
	struct annotate_places *s = &d->places;
	struct annotate_shown *all = xcalloc(s->file_count[1] + 1, sizeof(*all));
	uint32_t i;
	size_t n = 0;

	for (i = 0; i < s->file_count[1]; i++) {
		const struct annotate_file *f = &s->files[1][i];
		struct annotate_change c = annotate_change_of_file(d, f);
		const char *why = c.row ? why_hidden(d, f, c.row) : NULL;

		if (why && f->partner != ANNOTATE_NONE)
			hide_side(d, 0, f->partner, why);
		if (why)
			hide_side(d, 1, i, why);
		if (c.row && !why)
			all[n++] = (struct annotate_shown){
				f->is_loose ? UINT64_MAX : diff_rank(c.container, c.row), i
			};
	}
	if (n)
		qsort(all, n, sizeof(*all), compare_shown);
	*ret_count = n;
	return all;
}

const char *annotate_changes_how(const struct annotate_diff *d, const struct annotate_file *second)
{
	const struct annotate_file *first =
		second->partner == ANNOTATE_NONE ? NULL : &d->places.files[0][second->partner];

	if (first && first->matches)
		return "text";
	if (first && first->is_renumbered)
		return "kept";
	return second->is_rebuilt || (first && first->is_rebuilt) ? "code" : "number";
}

/* --- the rest --- */

/* The image of the second profile that a reason of a side is about. */
static uint32_t image_of(const struct annotate_diff *d, unsigned int side,
			 const struct annotate_rest *rest)
{
	return rest->image == ANNOTATE_NONE ? rest->image
	       : side			    ? rest->image
					    : d->pair.images[rest->image];
}

/* Makes rows of the rest of a side. */
static void add_side(const struct annotate *a, unsigned int side, struct annotate_rows *rows)
{
	size_t i;

	for (i = 0; i < a->rest_count; i++) {
		uint32_t number = annotate_rows_add(
			rows, side, &(struct row){ .app = GATHER_NONE, .kind = ROW_IMAGE });

		memcpy(annotate_rows_counts(rows, side, number), a->rest[i].counts,
		       a->totals.class_count * sizeof(uint64_t));
	}
}

/* The same reason on the second side, or GATHER_NONE. */
static uint32_t partner_of(const struct annotate_diff *d, const struct annotate_rest *rest)
{
	const struct annotate *second = d->sides[1].annotate;
	uint32_t i;

	for (i = 0; i < second->rest_count; i++)
		if (!strcmp(rest->why, second->rest[i].why) &&
		    image_of(d, 0, rest) == second->rest[i].image)
			return i;
	return GATHER_NONE;
}

/* Gives the rows of a side their reasons, and empties its rest. */
static void name_side(struct annotate_diff *d, unsigned int side, struct annotate_left *left)
{
	struct annotate *a = d->sides[side].annotate;
	size_t i;

	for (i = 0; i < a->rest_count; i++) {
		const struct row *row = annotate_rows_at(&left->rows, side, (uint32_t)i);

		if (row)
			left->list[row - left->rows.sides[1].rows] =
				(struct annotate_rest){ image_of(d, side, &a->rest[i]),
							a->rest[i].why, NULL };
	}
	a->rest_count = 0;
}

void annotate_changes_take_rest(struct annotate_diff *d, enum annotate_left_of of)
{
	const struct annotate *first = d->sides[0].annotate;
	_cleanup_free_ uint32_t *partners = xcalloc(first->rest_count + 1, sizeof(*partners));
	struct annotate_left *left = &d->left[of];
	size_t i;

	for (i = 0; i < first->rest_count; i++)
		partners[i] = partner_of(d, &first->rest[i]);
	add_side(first, 0, &left->rows);
	add_side(d->sides[1].annotate, 1, &left->rows);
	annotate_rows_settle(&left->rows, d->sides);
	annotate_rows_compare(&left->rows, d->pair.images, partners);
	left->list = xcalloc(left->rows.sides[1].count + 1, sizeof(*left->list));
	name_side(d, 0, left);
	name_side(d, 1, left);
}

const char *annotate_left_name(enum annotate_left_of of)
{
	static const char *const names[] = {
#define X(of, name) [ANNOTATE_LEFT_##of] = name,
		ANNOTATE_LEFT(X)
#undef X
	};

	return names[of];
}
