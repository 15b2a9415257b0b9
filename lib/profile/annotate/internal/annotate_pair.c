/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/annotate_pair.h"

#include "base/mem.h"
#include "elf/elffile.h"
#include "profile/rows/diff.h"
#include "profile/rows/diff_builds.h"
#include "profile/rows/diff_match.h"
#include "profile/select/classes.h"
#include "profile/select/gather.h"
#include "symbol/symtab.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- opening --- */

static uint32_t add_function(struct annotate_pair *p, unsigned int side, size_t view,
			     uint32_t symbol, const struct row *row)
{
	size_t n = p->function_count[side]++;

	array_grow(&p->functions[side], n + 1, &p->room[side]);
	p->functions[side][n] = (struct annotate_function){ .view = (uint32_t)view,
							    .symbol = symbol,
							    .partner = ANNOTATE_NONE };
	return annotate_rows_add(&p->rows, side, row);
}

/* The kind of the row that a sample in no symbol has. */
static enum row_kind kind_of(const struct annotate_view *v, const struct sample *sample)
{
	if (!v->binary.symtab)
		return row_kind_without_symbols(v->binary.why);
	return sample->offset == SAMPLE_RARE ? ROW_RARE : ROW_UNNAMED;
}

/* Adds the rows of a view's symbols, and of what is in none. */
static void add_functions(struct annotate_pair *p, unsigned int side, size_t view)
{
	const struct annotate_view *v = &p->views[side][view];
	const struct annotate_image *image = &p->sides[side].annotate->images[view];
	uint32_t others[ROW_KIND_COUNT_] = { 0 }; /* number + 1 */
	struct container *c = &p->rows.sides[side];
	size_t i;

	p->function_of[side][view] = xcalloc(v->symbol_count + 1, sizeof(uint32_t));
	for (i = 0; i < v->symbol_count; i++) {
		const struct symbol *sym = v->symbols[i].symbol;
		struct row row = { .image = image->image,
				   .app = GATHER_NONE,
				   .kind = ROW_SYMBOL,
				   .symbol_index = v->symbols[i].first,
				   .address = sym->address,
				   .symbol = container_symbol(c, sym->name) };

		p->function_of[side][view][i] = add_function(p, side, view, (uint32_t)i, &row);
	}
	for (i = 0; i < image->samples.count; i++) {
		const struct sample *sample = &image->samples.samples[i];
		uint32_t symbol = v->of_sample ? v->of_sample[i] : ANNOTATE_NONE, number;
		enum row_kind kind = kind_of(v, sample);

		if (symbol == ANNOTATE_NONE && !others[kind])
			others[kind] = 1 + add_function(p, side, view, ANNOTATE_NONE,
							&(struct row){ .image = image->image,
								       .app = GATHER_NONE,
								       .kind = kind });
		number = symbol == ANNOTATE_NONE ? others[kind] - 1
						 : p->function_of[side][view][symbol];
		annotate_rows_counts(&p->rows, side, number)[sample->class] += sample->count;
	}
}

static void open_side(struct annotate_pair *p, unsigned int side)
{
	const struct annotate_diff_side *of = &p->sides[side];
	size_t i, n = of->annotate->image_count;

	p->view_count[side] = n;
	p->views[side] = xcalloc(n + 1, sizeof(*p->views[side]));
	p->function_of[side] = xcalloc(n + 1, sizeof(*p->function_of[side]));
	for (i = 0; i < n; i++) {
		annotate_open(of->annotate, i, of->binaries, &p->views[side][i]);
		add_functions(p, side, i);
	}
}

/* Notes which view each image has. */
static void index_views(struct annotate_pair *p)
{
	size_t images = p->sides[1].gather->image_count, i;
	unsigned int side;

	for (side = 0; side < 2; side++) {
		p->view_of[side] = xcalloc(images + 1, sizeof(*p->view_of[side]));
		for (i = 0; i < images; i++)
			p->view_of[side][i] = ANNOTATE_NONE;
		for (i = 0; i < p->view_count[side]; i++) {
			uint32_t image = p->views[side][i].image->image;

			p->view_of[side][side ? image : p->images[image]] = (uint32_t)i;
		}
	}
}

/* Code of several builds cannot be added up: of a path of which most samples are of other builds
 * now, those with the most samples are compared. */
static uint32_t *match_images(const struct annotate_pair *p)
{
	struct gather *const gathers[2] = { p->sides[0].gather, p->sides[1].gather };
	_cleanup_free_ uint64_t *first = diff_builds_samples(gathers[0], &p->rows.sides[0]);
	_cleanup_free_ uint64_t *second = diff_builds_samples(gathers[1], &p->rows.sides[1]);
	_cleanup_(diff_builds_done) struct diff_builds builds = { 0 };

	diff_builds_find((const struct gather *const[2]){ gathers[0], gathers[1] },
			 (const uint64_t *const[2]){ first, second }, &builds);
	return diff_match_images(gathers[0], gathers[1],
				 &(struct diff_images){ builds.sampled[0], builds.sampled[1] });
}

static void match(struct annotate_pair *p)
{
	struct diff_side sides[2];
	_cleanup_free_ uint32_t *rows = NULL, *partners = NULL;
	unsigned int side;
	size_t i;

	for (side = 0; side < 2; side++)
		sides[side] = (struct diff_side){ p->sides[side].gather, p->sides[side].binaries,
						  p->sides[side].classes, &p->rows.sides[side] };
	p->images = match_images(p);
	rows = diff_match_rows(&sides[0], &sides[1], p->images);
	partners = xcalloc(p->function_count[0] + 1, sizeof(*partners));
	for (i = 0; i < p->function_count[0]; i++)
		partners[i] = GATHER_NONE;
	for (i = 0; i < p->rows.sides[0].count; i++) {
		uint32_t first = p->rows.sides[0].rows[i].id, second;

		if (rows[i] == GATHER_NONE)
			continue;
		second = p->rows.sides[1].rows[rows[i]].id;
		partners[first] = second;
		p->functions[0][first].partner = second;
		p->functions[1][second].partner = first;
	}
	annotate_rows_compare(&p->rows, p->images, partners);
}

int annotate_pair_open(struct annotate_pair *p, const struct annotate_diff_side sides[2],
		       struct error *err)
{
	unsigned int side;
	int r;

	*p = (struct annotate_pair){ .sides = sides };
	annotate_rows_init(&p->rows, sides);
	for (side = 0; side < 2; side++)
		if (sides[side].gather->blocks)
			classes_join_blocks(sides[side].classes);
	r = diff_check_classes(
		&(struct diff_side){ .gather = sides[0].gather, .classes = sides[0].classes },
		&(struct diff_side){ .gather = sides[1].gather, .classes = sides[1].classes }, err);
	if (r < 0)
		return r;
	open_side(p, 0);
	open_side(p, 1);
	annotate_rows_settle(&p->rows, sides);
	match(p);
	index_views(p);
	return 0;
}

void annotate_pair_close(struct annotate_pair *p)
{
	unsigned int side;
	size_t i;

	for (side = 0; side < 2; side++) {
		for (i = 0; i < p->view_count[side]; i++) {
			annotate_close(&p->views[side][i]);
			free(p->function_of[side][i]);
		}
		free(p->views[side]);
		free(p->function_of[side]);
		free(p->view_of[side]);
		free(p->functions[side]);
	}
	free(p->images);
	annotate_rows_done(&p->rows);
	*p = (struct annotate_pair){ 0 };
}

/* --- looking up --- */

const struct annotate_symbol *annotate_pair_symbol(const struct annotate_pair *p, unsigned int side,
						   const struct annotate_function *f)
{
	return f->symbol == ANNOTATE_NONE ? NULL : &p->views[side][f->view].symbols[f->symbol];
}

struct annotate_function *annotate_pair_function(const struct annotate_pair *p, unsigned int side,
						 size_t view, size_t i)
{
	uint32_t symbol = p->views[side][view].of_sample[i];

	return &p->functions[side][p->function_of[side][view][symbol]];
}

const struct annotate_view *annotate_pair_other(const struct annotate_pair *p, unsigned int side,
						size_t view)
{
	uint32_t image = p->views[side][view].image->image;
	uint32_t other = p->view_of[!side][side ? image : p->images[image]];

	return other == ANNOTATE_NONE ? NULL : &p->views[!side][other];
}

bool annotate_pair_is_blind(const struct annotate_pair *p, size_t view)
{
	const struct annotate_view *other = annotate_pair_other(p, 1, view);

	return other && !other->binary.symtab;
}

bool annotate_pair_is_same_build(const struct annotate_view *a, const struct annotate_view *b)
{
	const struct elffile *one = a->binary.file, *two = b->binary.file;
	const struct build_id *id = one && two ? elffile_build_id(one) : NULL;
	const struct build_id *other = id ? elffile_build_id(two) : NULL;
	struct stat st, st_other;

	if (a->binary.kept && b->binary.kept) /* named by their build */
		return !strcmp(a->binary.kept, b->binary.kept);
	if (!one || !two)
		return false;
	if (id && other)
		return build_id_equal(id, other);
	return stat(elffile_path(one), &st) == 0 && stat(elffile_path(two), &st_other) == 0 &&
	       st.st_dev == st_other.st_dev && st.st_ino == st_other.st_ino;
}

/* --- choosing --- */

struct candidate {
	uint64_t rank;
	uint32_t row;
};

static int compare_candidates(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static struct annotate_symbol *wanted(const struct annotate_pair *p, unsigned int side, size_t i)
{
	const struct annotate_function *f = &p->functions[side][i];
	struct annotate_symbol *sym =
		f->symbol == ANNOTATE_NONE ? NULL : &p->views[side][f->view].symbols[f->symbol];

	return sym && sym->is_wanted && annotate_rows_at(&p->rows, side, (uint32_t)i) ? sym : NULL;
}

void annotate_pair_choose(struct annotate_pair *p, size_t count)
{
	const struct container *c = &p->rows.sides[1];
	_cleanup_free_ bool *is_chosen = xcalloc(c->count + 1, sizeof(*is_chosen));
	_cleanup_free_ struct candidate *all = xcalloc(c->count + 1, sizeof(*all));
	unsigned int side;
	size_t i, n = 0;

	for (side = 0; side < 2; side++) {
		for (i = 0; i < p->function_count[side]; i++) {
			uint32_t row = p->rows.rows[side][i];

			if (!wanted(p, side, i) || is_chosen[row])
				continue;
			is_chosen[row] = true; /* for now: it is a candidate */
			all[n++] = (struct candidate){ diff_rank(c, &c->rows[row]), row };
		}
	}
	if (n)
		qsort(all, n, sizeof(*all), compare_candidates);
	for (i = count; i < n; i++)
		is_chosen[all[i].row] = false;
	for (side = 0; side < 2; side++) {
		for (i = 0; i < p->function_count[side]; i++) {
			struct annotate_symbol *sym = wanted(p, side, i);

			if (!sym || is_chosen[p->rows.rows[side][i]])
				continue;
			sym->is_wanted = false;
			annotate_add_rest(p->sides[side].annotate, ANNOTATE_NONE,
					  annotate_not_selected, sym->counts);
		}
	}
}
