/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/chain_filter.h"

#include "base/mem.h"
#include "profile/rows/code_kind.h"
#include "profile/rows/container.h"
#include "profile/select/gather.h"
#include "profile/select/symfilter.h"

/* What the lists say of a function. */
enum { IS_WANTED = 1, IS_DROPPED = 2, IS_HIDDEN = 4, IS_CALLED = 8 };

static_assert(CODE_KIND_COUNT_ <= 16, "a bit for each");

static struct chain_judgement judge(const struct chain_filter *f, const struct row *row)
{
	const struct chain_choice *c = f->choice;
	const char *name = row->kind == ROW_SYMBOL ? row->symbol->name : NULL;
	const char *path = f->gather->images[row->image].display;
	struct chain_judgement j = { 0 };
	enum code_kind runs;

	j.found |= symbol_list_has(&c->symbols.include, name, path) ? IS_WANTED : 0;
	j.found |= symbol_list_has(&c->symbols.exclude, name, path) ? IS_DROPPED : 0;
	j.found |= symbol_list_has(&c->hide, name, path) ? IS_HIDDEN : 0;
	j.found |= symbol_list_has(&c->callers_of, name, path) ? IS_CALLED : 0;
	if (!c->merge_runtime)
		return j;
	if (code_kind_is_runtime(f->gather, row, &runs))
		j.runs_code = (uint16_t)(1 << runs);
	else
		j.language = (uint16_t)(1 << code_kind_of(f->gather, row));
	return j;
}

/* Judges the rows that were added since the last call. */
static void judge_rows(struct chain_filter *f)
{
	array_grow(&f->of_row, f->rows->count, &f->room);
	for (; f->known < f->rows->count; f->known++)
		f->of_row[f->known] = judge(f, &f->rows->rows[f->known]);
}

/* Whether the function is left out of a chain that has code of these languages. The interpreter's
 * own frames are, unless none of the code that it runs is in the chain. */
static bool is_left_out(const struct chain_judgement *j, uint16_t languages)
{
	return (j->found & IS_HIDDEN) || (j->runs_code & languages);
}

bool chain_filter_is_set(const struct chain_filter *f)
{
	const struct chain_choice *c = f->choice;

	return c && (symbol_filter_is_set(&c->symbols) || c->hide.count || c->callers_of.count ||
		     c->merge_runtime || c->native);
}

bool chain_filter_take(struct chain_filter *f, uint32_t app, uint32_t *ids, uint32_t *count)
{
	const struct chain_choice *c = f->choice;
	uint32_t i, kept = 0, from = 0;
	uint8_t in_chain = 0;
	uint16_t languages = 0;

	if (c->native)
		*count = chain_native_take(&f->native, app, ids, *count);
	judge_rows(f);
	for (i = 0; i < *count; i++) {
		const struct chain_judgement *j = &f->of_row[ids[i]];

		if ((j->found & IS_CALLED) && !(in_chain & IS_CALLED))
			from = i;
		in_chain |= j->found;
		languages |= j->language;
	}
	if ((in_chain & IS_DROPPED) || (c->symbols.include.count && !(in_chain & IS_WANTED)) ||
	    (c->callers_of.count && !(in_chain & IS_CALLED)))
		return false;
	for (i = from; i < *count; i++)
		if (!is_left_out(&f->of_row[ids[i]], languages))
			ids[kept++] = ids[i];
	*count = kept;
	return kept > 0;
}

void chain_filter_done(struct chain_filter *f)
{
	chain_native_done(&f->native);
	free(f->of_row);
}
