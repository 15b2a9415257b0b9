/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/chain_filter.h"

#include "base/mem.h"
#include "profile/rows/container.h"
#include "profile/select/gather.h"
#include "profile/select/symfilter.h"

/* What the lists say of a function. */
enum { IS_WANTED = 1, IS_DROPPED = 2, IS_HIDDEN = 4, IS_CALLED = 8 };

static uint8_t judge(const struct chain_filter *f, const struct row *row)
{
	const struct chain_choice *c = f->choice;
	const char *name = row->kind == ROW_SYMBOL ? row->symbol->name : NULL;
	const char *path = f->gather->images[row->image].display;
	uint8_t found = 0;

	found |= symbol_list_has(&c->symbols.include, name, path) ? IS_WANTED : 0;
	found |= symbol_list_has(&c->symbols.exclude, name, path) ? IS_DROPPED : 0;
	found |= symbol_list_has(&c->hide, name, path) ? IS_HIDDEN : 0;
	found |= symbol_list_has(&c->callers_of, name, path) ? IS_CALLED : 0;
	return found;
}

/* Judges the rows that were added since the last call. */
static void judge_rows(struct chain_filter *f)
{
	array_grow(&f->of_row, f->rows->count, &f->room);
	for (; f->known < f->rows->count; f->known++)
		f->of_row[f->known] = judge(f, &f->rows->rows[f->known]);
}

bool chain_filter_take(struct chain_filter *f, uint32_t *ids, uint32_t *count)
{
	const struct chain_choice *c = f->choice;
	uint32_t i, kept = 0, from = 0;
	uint8_t in_chain = 0;

	judge_rows(f);
	for (i = 0; i < *count; i++) {
		/* What the function called is not shown. */
		if ((f->of_row[ids[i]] & IS_CALLED) && !(in_chain & IS_CALLED))
			from = i;
		in_chain |= f->of_row[ids[i]];
	}
	if ((in_chain & IS_DROPPED) || (c->symbols.include.count && !(in_chain & IS_WANTED)) ||
	    (c->callers_of.count && !(in_chain & IS_CALLED)))
		return false;
	for (i = from; i < *count; i++)
		if (!(f->of_row[ids[i]] & IS_HIDDEN))
			ids[kept++] = ids[i];
	*count = kept;
	return kept > 0;
}

void chain_filter_done(struct chain_filter *f)
{
	free(f->of_row);
}
