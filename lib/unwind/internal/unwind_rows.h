/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the rows of a table and the index of their pages, in order of PC.
 *
 *	struct unwind_rows w;
 *	unwind_rows_init(&w, rules, base, page_count, room);
 *	unwind_rows_limit(&w, 0x3000);
 *	unwind_rows_put_rule(&w, 0x1000, &rule);
 *	unwind_rows_finish(&w);		and take w.pages, w.rows
 */
#pragma once

#include "base/macro.h"
#include "unwind/unwind.h"

#include <string.h>

enum { UNWIND_ROWS_MEMO_SHIFT = 9, UNWIND_ROWS_MEMO = 1 << UNWIND_ROWS_MEMO_SHIFT };

struct unwind_rows {
	struct unwind_rules *rules; /* borrowed */
	uint32_t *pages;	    /* page_count + 1, the caller's in the end, as are the rows */
	size_t page_count;
	struct unwind_row *rows, *next, *end; /* there is always room for one more */
	uint64_t base;			      /* address of PC 0 */
	uint64_t limit;			      /* PC from which on nothing is put */
	uint64_t until; /* that or the end of the page, whichever comes first */
	size_t page;	/* the one that is being filled */
	uint16_t last_rule;
	/* Rules that were put lately, by hash: looking one up is most of the work otherwise. What
	 * is not in use is right for rule 0. */
	struct unwind_rows_memo {
		uint64_t a, b; /* the rule, as two words: see cfi.h */
		uint16_t rule;
		uint8_t unused[14]; /* a power of two is found sooner */
	} memo[UNWIND_ROWS_MEMO];
};

/* Where a writer was, to go back to. */
struct unwind_rows_mark {
	size_t count, page;
	uint16_t last_rule;
};

/* Starts a table whose PCs count from @base and are below @page_count pages, at most 65,536; it has
 * perhaps @room rows. */
void unwind_rows_init(struct unwind_rows *w, struct unwind_rules *rules, uint64_t base,
		      size_t page_count, size_t room);
/* Sets ->limit. */
void unwind_rows_limit(struct unwind_rows *w, uint64_t limit);
/* Notes where the writer is. */
struct unwind_rows_mark unwind_rows_mark(const struct unwind_rows *w);
/* Takes back what was put since then. */
void unwind_rows_rewind(struct unwind_rows *w, const struct unwind_rows_mark *mark);
/* Closes the index; how many rows there are. */
size_t unwind_rows_finish(struct unwind_rows *w);

/* Fills the memo from the rules; the number of the rule. */
uint16_t unwind_rows_learn(struct unwind_rows *w, struct unwind_rows_memo *memo, uint64_t a,
			   uint64_t b);
/* Goes on to the page of @pc; false if that is beyond the limit. */
bool unwind_rows_turn(struct unwind_rows *w, uint64_t pc);
/* The rule @index is that of @pc, which is the PC put last. */
void unwind_rows_replace(struct unwind_rows *w, uint16_t index);
/* Makes room for more rows. */
void unwind_rows_grow(struct unwind_rows *w);

/* From @pc on, which is not below the one put last, the rule holds whose words are @a and @b. Here
 * because it is called for each of some hundred thousand rows, mostly with a rule that was put
 * before. */
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

/* The same with @rule. */
static inline void unwind_rows_put_rule(struct unwind_rows *w, uint64_t pc,
					const struct unwind_rule *rule)
{
	uint64_t words[2];

	memcpy(words, rule, sizeof(words));
	unwind_rows_put(w, pc, words[0], words[1]);
}
