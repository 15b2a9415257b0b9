/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/line_builds.h"

#include "base/intern.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "dwarf/lines.h"
#include "profile/binary/binary.h"
#include "profile/rows/container.h"
#include "profile/rows/internal/build_totals.h"
#include "profile/rows/internal/placer.h"
#include "profile/rows/line_choice.h"
#include "profile/rows/row_detail.h"
#include "profile/select/classes.h"
#include "profile/select/file_counts.h"
#include "profile/select/gather.h"
#include "profile/select/programs.h"
#include "profile/select/samples.h"
#include "symbol/function_lines.h"
#include "symbol/symtab.h"

#include <string.h>

/* The search for a line in all builds. */
struct search {
	const struct line_source *source;
	const struct line_choice *choice;
	struct container *container;
	struct intern paths;	 /* of images with rows */
	struct intern functions; /* with samples in the file, or with inlined code that has some */
	struct intern with_line; /* functions that have the line in some build */
	size_t unknown;		 /* builds with such functions whose lines are not known */
};

/* An image that is searched. */
struct build {
	uint32_t image;
	size_t last; /* the piece of a symbol that was found last */
	struct binary binary;
	struct placer *placer;
};

/* --- order --- */

uint64_t *line_builds_ages(const struct line_source *source, const struct container *c)
{
	const struct gather *g = source->gather;
	_cleanup_free_ bool *is_used = xcalloc(g->image_count + 1, sizeof(*is_used));
	uint64_t *ages = xcalloc(g->image_count + 1, sizeof(*ages));
	struct build_totals totals;
	size_t i, k;

	for (i = 0; i < c->count; i++)
		is_used[c->rows[i].image] = true;
	build_totals_make(g, source->classes, is_used, &totals);
	for (i = 0; i < g->image_count; i++) {
		uint64_t last = 0;

		for (k = 0; totals.sums[i] && k < source->classes->count; k++)
			if (totals.sums[i][k])
				last = MAX(last, k % source->classes->steps + 1);
		ages[i] = last << 32 | i;
	}
	build_totals_done(&totals);
	return ages;
}

/* --- builds --- */

static bool open_build(const struct search *s, uint32_t image, struct build *ret)
{
	const struct gather *g = s->source->gather;
	const uint32_t file = g->images[image].file;
	struct sfile_header header;

	*ret = (struct build){ .image = image };
	if (!file || file_counts_read_header(&g->files[file - 1], &header, NULL) < 0)
		return false;
	binary_open(s->source->binaries, image, &header, &ret->binary);
	if (ret->binary.symtab)
		ret->placer =
			placer_open(s->container, s->source->binaries, image, &ret->binary, true);
	if (!ret->placer)
		binary_close(&ret->binary);
	return ret->placer;
}

static void close_build(struct build *b)
{
	placer_free(b->placer);
	binary_close(&b->binary);
}

/* The symbol with the code linked at @address, or NULL. Fast if addresses ascend. */
static const struct symbol *symbol_at(struct build *b, uint64_t address)
{
	const struct symtab *st = b->binary.symtab;
	size_t count = symtab_count(st), i;

	for (i = 0; i < count; i++) {
		size_t piece = (b->last + i) % count;
		const struct symbol *sym = symtab_at(st, piece);

		if (address - sym->address >= sym->end - sym->offset)
			continue;
		b->last = piece;
		return symtab_at(st, sym->whole);
	}
	return NULL;
}

/* --- functions --- */

/* Adds the names of the functions that contain the inlined code of an image. */
static void add_containing(struct search *s, uint32_t image)
{
	const struct container *c = s->container;
	struct build b;
	size_t i;

	if (!open_build(s, image, &b))
		return;
	for (i = 0; i < c->count; i++) {
		const struct symbol *sym;

		if (c->rows[i].image != image || !c->rows[i].is_inlined)
			continue;
		sym = symbol_at(&b, c->rows[i].address);
		if (sym)
			(void)intern(&s->functions, sym->name);
	}
	close_build(&b);
}

static void find_functions(struct search *s)
{
	const struct gather *g = s->source->gather;
	const struct container *c = s->container;
	_cleanup_free_ bool *has_inlined = xcalloc(g->image_count + 1, sizeof(*has_inlined));
	size_t i;

	for (i = 0; i < c->count; i++) {
		const struct row *row = &c->rows[i];

		(void)intern(&s->paths, g->images[row->image].display);
		has_inlined[row->image] |= row->is_inlined;
		if (row->symbol && !row->is_inlined)
			(void)intern(&s->functions, row->symbol->name);
	}
	for (i = 0; i < g->image_count; i++)
		if (has_inlined[i])
			add_containing(s, (uint32_t)i);
}

/* --- lines --- */

/* The function of @b with that name: a row without samples if it has none. */
static struct row *find_row(struct search *s, struct build *b, const struct symbol *sym,
			    const char *inlined)
{
	struct container *c = s->container;
	_cleanup_free_ char *name = container_plain_name(inlined ?: sym->name);
	struct row *row;
	size_t i;

	for (i = 0; i < c->count; i++) {
		row = &c->rows[i];
		if (row->image == b->image && row->symbol && row->is_inlined == (inlined != NULL) &&
		    !strcmp(row->symbol->name, name))
			return row;
	}
	row = container_add_row(c, &(struct row){ .image = b->image,
						  .app = GATHER_NONE,
						  .kind = ROW_SYMBOL,
						  .symbol = container_symbol(c, name),
						  .symbol_index = inlined ? UINT32_MAX : sym->whole,
						  .address = sym->address,
						  .is_inlined = inlined != NULL });
	if (!inlined)
		row->place = placer_start(b->placer, sym->address);
	return row;
}

/* Adds the place of code without samples to its function. */
static void add_place(struct search *s, struct build *b, uint64_t address, const char *inlined)
{
	const struct symbol *sym = symbol_at(b, address);
	uint64_t shift = sym->address - sym->offset;
	struct sample none = { .offset = address - shift };

	detail_keep(s->container, find_row(s, b, sym, inlined), &none, 1, shift, b->placer);
}

/* Whether the symbol is a function that has samples in the file in some build. */
static bool is_function(const struct search *s, const struct symbol *sym)
{
	_cleanup_free_ char *name = container_plain_name(sym->name);

	return intern_has(&s->functions, name) || intern_has(&s->functions, sym->name);
}

static bool has_functions(const struct search *s, const struct build *b)
{
	size_t i;

	for (i = 0; i < symtab_count(b->binary.symtab); i++)
		if (is_function(s, symtab_at(b->binary.symtab, i)))
			return true;
	return false;
}

/* The function that a line is written in: a symbol, or one that was inlined there. */
static const char *function_of(struct build *b, const struct kept_lines *lines,
			       const struct kept_line *line)
{
	const struct symbol *sym = symbol_at(b, line->address);

	if (!sym)
		return NULL;
	return line->call ? lines->calls[line->call - 1].function : sym->name;
}

static bool is_in_file(const struct search *s, const struct kept_lines *lines,
		       const struct kept_line *line)
{
	return line->line && line_choice_has(s->choice, lines->files[line->file]);
}

/* Finds the functions that have the line. */
static void find_line(struct search *s, struct build *b, const struct kept_lines *lines)
{
	bool is_known = false;
	size_t i;

	for (i = 0; i < lines->count; i++) {
		const struct kept_line *line = &lines->list[i];
		const char *name = function_of(b, lines, line);

		is_known |= name && intern_has(&s->functions, name);
		if (name && line->line == s->choice->line && is_in_file(s, lines, line))
			(void)intern(&s->with_line, name);
	}
	s->unknown += !is_known && has_functions(s, b);
}

/* Adds all lines of those functions. */
static void add_lines(struct search *s, struct build *b, const struct kept_lines *lines)
{
	size_t i;

	for (i = 0; i < lines->count; i++) {
		const struct kept_line *line = &lines->list[i];
		const char *name = is_in_file(s, lines, line) ? function_of(b, lines, line) : NULL;

		if (name && intern_has(&s->with_line, name))
			add_place(s, b, line->address, line->call ? name : NULL);
	}
}

typedef void line_taker(struct search *s, struct build *b, const struct kept_lines *lines);

/* Reads the lines of the functions that have samples in some build. */
static void read_lines(struct search *s, struct build *b, line_taker *take)
{
	const struct symtab *st = b->binary.symtab;
	_cleanup_free_ bool *is_wanted = xcalloc(symtab_count(st) + 1, sizeof(*is_wanted));
	struct function_lines found = { .lines = placer_lines(b->placer), .end_ns = UINT64_MAX };
	size_t i;

	for (i = 0; i < symtab_count(st); i++)
		is_wanted[i] = symtab_at(st, i)->whole == i && is_function(s, symtab_at(st, i));
	(void)function_lines_add(&found, st, is_wanted);
	take(s, b, &found.kept);
	function_lines_done(&found);
}

static void for_each_build(struct search *s, line_taker *take)
{
	const struct gather *g = s->source->gather;
	uint32_t i;

	for (i = 0; i < g->image_count; i++) {
		struct build b;

		if (programs_shown(g, i) != i || !intern_has(&s->paths, g->images[i].display) ||
		    !open_build(s, i, &b))
			continue;
		if (lines_kept(placer_lines(b.placer))->count)
			take(s, &b, lines_kept(placer_lines(b.placer)));
		else
			read_lines(s, &b, take);
		close_build(&b);
	}
}

void line_builds_add(const struct line_source *source, const struct line_choice *choice,
		     struct container *c)
{
	struct search s = {
		.source = source, .choice = choice, .container = c, .functions = INTERN_INIT
	};

	find_functions(&s);
	for_each_build(&s, find_line);
	for_each_build(&s, add_lines);
	if (s.unknown)
		log_warn("%s:%u: the lines of %zu build%s are not known (the file is gone, or has "
			 "no debug information); their samples are in no row",
			 choice->file, choice->line, s.unknown, text_plural(s.unknown));
	intern_done(&s.paths);
	intern_done(&s.functions);
	intern_done(&s.with_line);
}
