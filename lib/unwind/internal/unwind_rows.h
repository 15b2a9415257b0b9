/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the rows of an unwind table in order of PC, and the index that says with which row each
 * page of 64 KiB starts.
 *
 *	struct unwind_rows w;
 *	unwind_rows_init(&w, rules, base, page_count, room);
 *	unwind_rows_limit(&w, 0x3000);
 *	unwind_rows_put_rule(&w, 0x1000, &rule);
 *	unwind_rows_finish(&w);
 *	pages = w.pages;
 *	rows = w.rows;
 */
#pragma once

#include "base/macro.h"
#include "unwind/unwind_rules.h"

#include <stdbool.h>
#include <string.h>

enum { UNWIND_ROWS_MEMO_SHIFT = 9, UNWIND_ROWS_MEMO = 1 << UNWIND_ROWS_MEMO_SHIFT };

struct unwind_rows {
	struct unwind_rules *rules; /* borrowed */
	uint32_t *pages; /* page_count + 1; the caller takes them at the end, and the rows */
	size_t page_count;
	struct unwind_row *rows, *next, *end; /* there is always room for one more row */
	uint64_t base;			      /* address of PC 0 */
	uint64_t limit;			      /* rows at this PC and above are ignored */
	uint64_t until; /* ->limit or the end of the page, whichever comes first */
	size_t page;	/* being filled */
	uint16_t last_rule;
	/* Bytes of a word where return addresses are only ever on the stack (x86); 0: elsewhere.
	 * Set after unwind_rows_init(). */
	uint8_t ra_word;
	/* Recently used rules by hash, because looking rules up would be most of the work. An
	 * unused entry is correct for rule 0. */
	struct unwind_rows_memo {
		uint64_t a, b; /* the rule as two words: see cfi_types.h */
		uint16_t rule;
		uint8_t unused[14]; /* a size that is a power of two is faster to index */
	} memo[UNWIND_ROWS_MEMO];
};

/* A position to go back to. */
struct unwind_rows_mark {
	size_t count, page;
	uint16_t last_rule;
};

/* Starts a table for code at the linked address @base, of @page_count pages, at most 65,536. @room
 * is an estimate of the number of rows. */
void unwind_rows_init(struct unwind_rows *w, struct unwind_rules *rules, uint64_t base,
		      size_t page_count, size_t room);
/* Sets ->limit. */
void unwind_rows_limit(struct unwind_rows *w, uint64_t limit);
/* The current position. */
struct unwind_rows_mark unwind_rows_mark(const struct unwind_rows *w);
/* Removes the rows written since @mark. */
void unwind_rows_rewind(struct unwind_rows *w, const struct unwind_rows_mark *mark);
/* Completes the index; returns the number of rows. */
size_t unwind_rows_finish(struct unwind_rows *w);

/* For unwind_rows_put() only: looks the rule up, and remembers it in @memo. Returns its index. */
uint16_t unwind_rows_learn(struct unwind_rows *w, struct unwind_rows_memo *memo, uint64_t a,
			   uint64_t b);
/* Starts the page of @pc; false if @pc is beyond the limit. */
bool unwind_rows_turn(struct unwind_rows *w, uint64_t pc);
/* Makes @index the rule of the last row. */
void unwind_rows_replace(struct unwind_rows *w, uint16_t index);
/* Makes room for more rows. */
void unwind_rows_grow(struct unwind_rows *w);

/* Writes a row: from @pc on, which is not below the PC of the last row, the rule with the words @a
 * and @b applies. Inline, because it is called hundreds of thousands of times, mostly with a rule
 * that was used before. */
static inline void unwind_rows_put(struct unwind_rows *w, uint64_t pc, uint64_t a, uint64_t b)
{
	struct unwind_rows_memo *memo =
		&w->memo[(a * 0x9e3779b97f4a7c15ULL + b * 0xbf58476d1ce4e5b9ULL) >>
			 (64 - UNWIND_ROWS_MEMO_SHIFT)];
	uint16_t rule = memo->rule;

	if (_unlikely_(pc >= w->until) && !unwind_rows_turn(w, pc))
		return;
	if (_unlikely_(memo->a != a || memo->b != b))
		rule = unwind_rows_learn(w, memo, a, b);
	if (rule == w->last_rule)
		return;
	w->last_rule = rule;
	if (_unlikely_(w->next[-1].pc == (uint16_t)pc)) {
		unwind_rows_replace(w, rule);
		return;
	}
	*w->next++ = (struct unwind_row){ (uint16_t)pc, rule };
	if (_unlikely_(w->next == w->end))
		unwind_rows_grow(w);
}

/* The same for @rule. */
static inline void unwind_rows_put_rule(struct unwind_rows *w, uint64_t pc,
					const struct unwind_rule *rule)
{
	uint64_t words[2];

	memcpy(words, rule, sizeof(words));
	unwind_rows_put(w, pc, words[0], words[1]);
}
