/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/annotate_votes.h"

#include "base/mem.h"
#include "base/sequence.h"
#include "dwarf/lines.h"
#include "profile/annotate/internal/annotate_code.h"
#include "profile/annotate/internal/annotate_files.h"

#include <string.h>

/* Votes for the lines of samples that both builds have, because they are one. */
static void vote_same(struct annotate_places *s, unsigned int side, size_t view)
{
	size_t i, n = s->pair->views[side][view].image->samples.count;

	for (i = 0; i < n; i++) {
		uint32_t index = s->line_of[side][view][i], first;
		const struct annotate_line *line;

		if (index == ANNOTATE_NONE)
			continue;
		line = &s->lines[side][index];
		first = side ? s->files[1][line->file].partner : line->file;
		if (first == ANNOTATE_NONE)
			continue;
		line_votes_add_code(&s->votes, LINE_FIRST, first, line->line);
		line_votes_add_code(&s->votes, LINE_SECOND, first, line->line);
		line_votes_add(&s->votes, first, line->line, line->line);
	}
}

/* Marks the files of a view's samples: they are of another build than the other side's. */
static void mark_rebuilt(struct annotate_places *s, unsigned int side, size_t view)
{
	size_t i, n = s->pair->views[side][view].image->samples.count;

	for (i = 0; i < n; i++)
		if (s->line_of[side][view][i] != ANNOTATE_NONE)
			s->files[side][s->lines[side][s->line_of[side][view][i]].file].is_rebuilt =
				true;
}

/* Where an instruction came from. */
struct origin {
	uint32_t file; /* of the first side, or ANNOTATE_NONE */
	unsigned int line;
	const char *function; /* the inlined one, or "" */
};

/* The origins of all instructions of one side; names live in the code's arena. */
static struct origin *origins_of(struct annotate_places *s, unsigned int side, struct lines *table,
				 struct annotate_code *code)
{
	struct origin *all = xcalloc(code->count + 1, sizeof(*all));
	const struct lines_call *calls = NULL;
	size_t i;

	for (i = 0; i < code->count; i++) {
		uint64_t address = code->list[i].address;
		struct lines_place at;
		uint32_t file;

		all[i].file = ANNOTATE_NONE;
		if (!lines_find(table, address, &at) || !at.line)
			continue;
		file = annotate_files_index(s, side, at.file);
		all[i].line = at.line;
		all[i].file = side ? annotate_files_partner(s, 1, file) : file;
		all[i].function = lines_inlines(table, address, &calls)
					  ? arena_strdup(&code->arena, calls[0].function)
					  : "";
		if (all[i].file != ANNOTATE_NONE)
			line_votes_add_code(&s->votes, side ? LINE_SECOND : LINE_FIRST, all[i].file,
					    at.line);
	}
	return all;
}

static void vote_matched(struct annotate_places *s, const struct origin *first, size_t count,
			 const struct origin *second, const uint32_t *partners)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct origin *a = &first[i], *b;

		if (partners[i] == SEQUENCE_NONE)
			continue;
		b = &second[partners[i]];
		if (a->file != ANNOTATE_NONE && a->file == b->file &&
		    !strcmp(a->function, b->function))
			line_votes_add(&s->votes, a->file, a->line, b->line);
	}
}

/* Votes for the lines of the instructions that both builds of a function have. */
static void vote_function(struct annotate_places *s, const struct annotate_function *f)
{
	const struct annotate_function *other = &s->pair->functions[1][f->partner];
	const struct annotate_symbol *a = annotate_pair_symbol(s->pair, 0, f),
				     *b = annotate_pair_symbol(s->pair, 1, other);
	struct lines *one = s->tables[0][f->view], *two = s->tables[1][other->view];
	struct annotate_code first = { 0 }, second = { 0 };

	if (a && b && a->is_wanted && one && two &&
	    annotate_code_read(&s->pair->views[0][f->view], a, NULL, &first) == 0 &&
	    annotate_code_read(&s->pair->views[1][other->view], b, NULL, &second) == 0) {
		_cleanup_free_ uint32_t *partners = annotate_code_match(&first, &second);
		_cleanup_free_ struct origin *from = origins_of(s, 0, one, &first),
					     *to = origins_of(s, 1, two, &second);

		vote_matched(s, from, first.count, to, partners);
	}
	annotate_code_done(&first);
	annotate_code_done(&second);
}

/* Compares the lines of two views of one image. */
static void vote_views(struct annotate_places *s, size_t first, size_t second, bool is_same)
{
	void (*work)(struct annotate_places * s, unsigned int side, size_t view) =
		is_same ? vote_same : mark_rebuilt;

	work(s, 0, first);
	work(s, 1, second);
}

void annotate_votes_collect(struct annotate_places *s)
{
	const struct annotate_pair *pair = s->pair;
	_cleanup_free_ bool *is_same = xcalloc(pair->view_count[0] + 1, sizeof(*is_same));
	size_t i;

	for (i = 0; i < pair->view_count[0]; i++) {
		const struct annotate_view *v = &pair->views[0][i], *other;

		other = annotate_pair_other(pair, 0, i);
		is_same[i] = other && annotate_pair_is_same_build(v, other);
		if (other)
			vote_views(s, i, (size_t)(other - pair->views[1]), is_same[i]);
	}
	for (i = 0; i < pair->function_count[0]; i++) {
		const struct annotate_function *f = &pair->functions[0][i];

		if (f->partner != ANNOTATE_NONE && !is_same[f->view])
			vote_function(s, f);
	}
}
