/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the rows of a table and the index of their pages, in order of PC.
 *
 *	struct unwind_rows w;
 *	unwind_rows_init(&w, rules, page_count);
 *	unwind_rows_put(&w, 0x1000, rule);
 *	unwind_rows_finish(&w);		and take w.pages, w.rows
 */
#pragma once

#include "image/unwind.h"

enum { UNWIND_ROWS_MEMO = 512 };

struct unwind_rows {
	struct unwind_rules *rules; /* borrowed */
	uint32_t *pages;	    /* page_count + 1, the caller's in the end, as are the rows */
	size_t page_count;
	struct unwind_row *rows;
	size_t count, room;
	size_t page; /* the one that is being filled */
	uint16_t last_rule;
	uint64_t last[2]; /* that rule spelt out, as two words: see cfi.h */
	/* Rules that were put lately, by hash: looking one up is most of the work otherwise. */
	struct {
		uint64_t a, b;
		uint64_t index; /* 0: none */
	} memo[UNWIND_ROWS_MEMO];
};

/* Where a writer was, to go back to. */
struct unwind_rows_mark {
	size_t count, page;
	uint16_t last_rule;
	uint64_t last[2];
};

/* Starts a table whose PCs are below @page_count pages, at most 65,536. */
void unwind_rows_init(struct unwind_rows *w, struct unwind_rules *rules, size_t page_count);
/* From @pc on, which is not below the one put last, @rule holds. */
void unwind_rows_put(struct unwind_rows *w, uint64_t pc, struct unwind_rule rule);
/* Notes where the writer is. */
struct unwind_rows_mark unwind_rows_mark(const struct unwind_rows *w);
/* Takes back what was put since then. */
void unwind_rows_rewind(struct unwind_rows *w, const struct unwind_rows_mark *mark);
/* Closes the index. */
void unwind_rows_finish(struct unwind_rows *w);
