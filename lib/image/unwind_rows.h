/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the rows of a table and the index of their pages, in order of PC.
 *
 *	struct unwind_rows w;
 *	unwind_rows_init(&w, rules, base, page_count);
 *	w.limit = 0x3000;
 *	unwind_rows_put(&w, base + 0x1000, &rule);
 *	unwind_rows_finish(&w);		and take w.pages, w.rows
 */
#pragma once

#include "base/macro.h"
#include "image/unwind.h"

#include <string.h>

enum { UNWIND_ROWS_MEMO_SHIFT = 9, UNWIND_ROWS_MEMO = 1 << UNWIND_ROWS_MEMO_SHIFT };

struct unwind_rows {
	struct unwind_rules *rules; /* borrowed */
	uint32_t *pages;	    /* page_count + 1, the caller's in the end, as are the rows */
	size_t page_count;
	struct unwind_row *rows;
	size_t count, room;
	uint64_t base;	/* address of PC 0 */
	uint64_t limit; /* PC from which on nothing is put */
	size_t page;	/* the one that is being filled */
	uint16_t last_rule;
	/* Rules that were put lately, by hash: looking one up is most of the work otherwise. What
	 * is not in use is right for rule 0. */
	struct unwind_rows_memo {
		uint64_t a, b; /* the rule, as two words: see cfi.h */
		uint64_t index;
	} memo[UNWIND_ROWS_MEMO];
};

/* Where a writer was, to go back to. */
struct unwind_rows_mark {
	size_t count, page;
	uint16_t last_rule;
};

/* Starts a table whose PCs count from @base and are below @page_count pages, at most 65,536. */
void unwind_rows_init(struct unwind_rows *w, struct unwind_rules *rules, uint64_t base,
		      size_t page_count);
/* Notes where the writer is. */
struct unwind_rows_mark unwind_rows_mark(const struct unwind_rows *w);
/* Takes back what was put since then. */
void unwind_rows_rewind(struct unwind_rows *w, const struct unwind_rows_mark *mark);
/* Closes the index. */
void unwind_rows_finish(struct unwind_rows *w);

/* Fills the memo from the rules. */
void unwind_rows_learn(struct unwind_rows *w, struct unwind_rows_memo *memo,
		       const struct unwind_rule *rule);
/* Goes on to the page of @pc. */
void unwind_rows_turn(struct unwind_rows *w, uint64_t pc);
/* The rule @index is that of @pc, which is the PC put last. */
void unwind_rows_replace(struct unwind_rows *w, uint16_t index);
/* Makes room for more rows. */
void unwind_rows_grow(struct unwind_rows *w);

/* From @address on, which is not below the one put last, @rule holds. Here because it is called for
 * each of some hundred thousand rows, mostly with a rule that was put before. */
static inline void unwind_rows_put(struct unwind_rows *w, uint64_t address,
				   const struct unwind_rule *rule)
{
	uint64_t pc = address - w->base, a, b;
	struct unwind_rows_memo *memo;

	if (pc >= w->limit)
		return;
	memcpy(&a, rule, sizeof(a));
	memcpy(&b, (const char *)rule + sizeof(a), sizeof(b));
	memo = &w->memo[(a * 0x9e3779b97f4a7c15ULL + b * 0xbf58476d1ce4e5b9ULL) >>
			(64 - UNWIND_ROWS_MEMO_SHIFT)];
	if (_unlikely_(memo->a != a || memo->b != b))
		unwind_rows_learn(w, memo, rule);
	if (_unlikely_(pc >> UNWIND_PAGE_SHIFT != w->page))
		unwind_rows_turn(w, pc);
	if (memo->index == w->last_rule)
		return;
	w->last_rule = (uint16_t)memo->index;
	if (_unlikely_(w->rows[w->count - 1].pc == (uint16_t)pc)) {
		unwind_rows_replace(w, w->last_rule);
		return;
	}
	if (_unlikely_(w->count == w->room))
		unwind_rows_grow(w);
	w->rows[w->count++] = (struct unwind_row){ (uint16_t)pc, w->last_rule };
}
