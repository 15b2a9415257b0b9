/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/annotate_listings.h"

#include "base/mem.h"
#include "base/sequence.h"
#include "profile/rows/diff.h"

#include <stdlib.h>

void annotate_listings_init(struct annotate_listings *l, const struct annotate_diff_side sides[2])
{
	*l = (struct annotate_listings){ 0 };
	annotate_rows_init(&l->rows, sides);
	annotate_rows_init(&l->loose, sides);
}

void annotate_listings_done(struct annotate_listings *l)
{
	size_t i;

	for (i = 0; i < l->count; i++) {
		annotate_code_done(&l->list[i].codes[0]);
		annotate_code_done(&l->list[i].codes[1]);
		free(l->list[i].numbers[0]);
		free(l->list[i].numbers[1]);
		free(l->list[i].partners);
	}
	free(l->list);
	annotate_rows_done(&l->rows);
	annotate_rows_done(&l->loose);
	*l = (struct annotate_listings){ 0 };
}

/* --- functions --- */

static const struct annotate_symbol *symbol_of(const struct annotate_listings *l, unsigned int side,
					       const struct annotate_listing *f)
{
	uint32_t function = f->functions[side];

	return function == ANNOTATE_NONE
		       ? NULL
		       : annotate_pair_symbol(l->pair, side, &l->pair->functions[side][function]);
}

static const struct annotate_view *view_of(const struct annotate_listings *l, unsigned int side,
					   const struct annotate_listing *f)
{
	return &l->pair->views[side][l->pair->functions[side][f->functions[side]].view];
}

static void add_rest(const struct annotate_listings *l, unsigned int side, uint32_t image,
		     const char *why, const uint64_t *counts)
{
	annotate_add_rest(l->pair->sides[side].annotate, image, why, counts);
}

/* Adds all samples of a function on a side to the rest, because they are not shown. */
static void give_up(const struct annotate_listings *l, unsigned int side,
		    const struct annotate_listing *f, bool of_image, const char *why)
{
	const struct annotate_symbol *sym = symbol_of(l, side, f);

	if (sym)
		add_rest(l, side,
			 of_image ? view_of(l, side, f)->image->image : (uint32_t)ANNOTATE_NONE,
			 why, sym->counts);
}

static int compare_listings(const void *pa, const void *pb, void *data)
{
	const struct annotate_listing *a = pa, *b = pb;
	const struct container *c = data;
	uint64_t one = diff_rank(c, a->row), two = diff_rank(c, b->row);

	if (one != two)
		return one < two ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Lists the functions of the rows: wanted ones that reach the threshold. */
static void list_functions(struct annotate_listings *l)
{
	struct annotate_pair *p = l->pair;
	struct container *c = &p->rows.sides[1];
	struct annotate_listing *all = xcalloc(c->count + 1, sizeof(*all));
	double threshold = p->sides[1].annotate->config->threshold;
	unsigned int side;
	size_t i;

	for (i = 0; i < c->count; i++)
		all[i] = (struct annotate_listing){ .functions = { ANNOTATE_NONE, ANNOTATE_NONE },
						    .row = &c->rows[i] };
	for (side = 0; side < 2; side++)
		for (i = 0; i < p->function_count[side]; i++)
			if (p->rows.rows[side][i] != GATHER_NONE)
				all[p->rows.rows[side][i]].functions[side] = (uint32_t)i;
	for (i = 0; i < c->count; i++) {
		const struct annotate_symbol *sym =
			symbol_of(l, 1, &all[i]) ?: symbol_of(l, 0, &all[i]);

		if (!sym || !sym->is_wanted)
			continue;
		if (container_reaches(c, all[i].row, threshold)) {
			all[l->count++] = all[i];
			continue;
		}
		for (side = 0; side < 2; side++)
			give_up(l, side, &all[i], false, "in symbols below the threshold");
	}
	l->list = all;
	if (l->count)
		qsort_r(all, l->count, sizeof(*all), compare_listings, c);
}

/* --- code --- */

/* Why a view has no code. */
static const char *why_none(const struct annotate_view *v, int status)
{
	if (status < 0)
		return "no disassembler for its machine";
	return v->binary.no_code
		       ?: v->binary.file ? "no code in the file"
					 : "symbols only, no file with code";
}

/* Reads the code of a function on a side. NULL, or why there is none. */
static const char *read_code(const struct annotate_listings *l, unsigned int side,
			     struct annotate_listing *f, const char *options)
{
	const struct annotate_view *v = view_of(l, side, f);
	int r = annotate_code_read(v, symbol_of(l, side, f), options, &f->codes[side]);

	return f->codes[side].count ? NULL : why_none(v, r);
}

/* Adds the samples of a function on a side to the instructions of @code. */
static void count_side(struct annotate_listings *l, struct annotate_listing *f, unsigned int side,
		       const struct annotate_code *code)
{
	const struct annotate_view *v = view_of(l, side, f);
	struct annotate_rows *rows = f->is_loose ? &l->loose : &l->rows;
	const struct samples *s = &v->image->samples;
	uint64_t *left = annotate_counts(l->pair->sides[side].annotate);
	size_t classes = l->pair->sides[side].annotate->totals.class_count, i, k;

	for (k = 0; k < classes; k++)
		left[k] = symbol_of(l, side, f)->counts[k];
	f->numbers[side] = xcalloc(code->count + 1, sizeof(uint32_t));
	for (i = 0; i < code->count; i++) {
		const struct annotate_instruction *insn = &code->list[i];
		uint32_t number = ANNOTATE_NONE;

		for (k = samples_first(s, insn->offset);
		     k < s->count && s->samples[k].offset < insn->offset + insn->size; k++) {
			if (number == ANNOTATE_NONE)
				number = annotate_rows_add(rows, side,
							   &(struct row){ .app = GATHER_NONE,
									  .kind = ROW_IMAGE });
			annotate_rows_counts(rows, side, number)[s->samples[k].class] +=
				s->samples[k].count;
			left[s->samples[k].class] -= s->samples[k].count;
		}
		f->numbers[side][i] = number;
	}
	if (container_sum(left, classes))
		add_rest(l, side, v->image->image, "no code in the file", left);
}

/* Of one build: all instructions are their own partners. */
static uint32_t *each_itself(size_t count)
{
	uint32_t *partners = xcalloc(count + 1, sizeof(*partners));
	size_t i;

	for (i = 0; i < count; i++)
		partners[i] = (uint32_t)i;
	return partners;
}

/* Reads and counts the code of a function that the second profile has samples in. */
static void find_second(struct annotate_listings *l, struct annotate_listing *f,
			const char *options)
{
	bool is_first = f->functions[0] != ANNOTATE_NONE, is_same;
	const char *why_first = NULL;

	f->why = read_code(l, 1, f, options);
	if (f->why) {
		give_up(l, 0, f, true, f->why);
		give_up(l, 1, f, true, f->why);
		return;
	}
	is_same = is_first && annotate_pair_is_same_build(view_of(l, 0, f), view_of(l, 1, f));
	if (is_first && !is_same)
		why_first = read_code(l, 0, f, options);
	f->is_loose = is_first
			      ? why_first != NULL
			      : annotate_pair_is_blind(l->pair,
						       l->pair->functions[1][f->functions[1]].view);
	count_side(l, f, 1, &f->codes[1]);
	if (why_first) {
		give_up(l, 0, f, true, why_first);
	} else if (is_first) {
		count_side(l, f, 0, &f->codes[!is_same ? 0 : 1]);
		f->partners = is_same ? each_itself(f->codes[1].count)
				      : annotate_code_match(&f->codes[0], &f->codes[1]);
	}
}

/* The same of one that only the first profile has samples in. */
static void find_first(struct annotate_listings *l, struct annotate_listing *f, const char *options)
{
	f->why = read_code(l, 0, f, options);
	if (f->why)
		give_up(l, 0, f, true, f->why);
	else
		count_side(l, f, 0, &f->codes[0]);
}

static void compare(struct annotate_listings *l)
{
	_cleanup_free_ uint32_t *partners = xcalloc(l->rows.added[0] + 1, sizeof(*partners));
	size_t i, k;

	for (i = 0; i < l->rows.added[0]; i++)
		partners[i] = GATHER_NONE;
	for (i = 0; i < l->count; i++) {
		const struct annotate_listing *f = &l->list[i];
		size_t count = f->codes[0].count ?: f->codes[1].count;

		for (k = 0; f->partners && k < count; k++)
			if (f->numbers[0][k] != ANNOTATE_NONE && f->partners[k] != SEQUENCE_NONE)
				partners[f->numbers[0][k]] = f->numbers[1][f->partners[k]];
	}
	annotate_rows_settle(&l->rows, l->pair->sides);
	annotate_rows_settle(&l->loose, l->pair->sides);
	annotate_rows_compare(&l->rows, l->pair->images, partners);
}

void annotate_listings_find(struct annotate_listings *l, struct annotate_pair *pair,
			    const char *options)
{
	size_t i;

	l->pair = pair;
	list_functions(l);
	for (i = 0; i < l->count; i++) {
		if (l->list[i].functions[1] != ANNOTATE_NONE)
			find_second(l, &l->list[i], options);
		else
			find_first(l, &l->list[i], options);
	}
	compare(l);
}
