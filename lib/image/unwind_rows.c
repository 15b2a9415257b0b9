/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind_rows.h"

#include "base/mem.h"

enum { PAGE_MASK = (1 << UNWIND_PAGE_SHIFT) - 1 };

void unwind_rows_grow(struct unwind_rows *w)
{
	array_grow(&w->rows, w->count + 1, &w->room);
}

static void append(struct unwind_rows *w, uint16_t pc, uint16_t rule)
{
	if (w->count == w->room)
		unwind_rows_grow(w);
	w->rows[w->count++] = (struct unwind_row){ pc, rule };
}

void unwind_rows_init(struct unwind_rows *w, struct unwind_rules *rules, uint64_t base,
		      size_t page_count)
{
	memset(w, 0, sizeof(*w));
	w->rules = rules;
	w->base = base;
	w->page_count = page_count;
	w->pages = xcalloc(page_count + 1, sizeof(*w->pages));
	append(w, 0, 0);
}

void unwind_rows_learn(struct unwind_rows *w, struct unwind_rows_memo *memo,
		       const struct unwind_rule *rule)
{
	memcpy(&memo->a, rule, sizeof(memo->a));
	memcpy(&memo->b, (const char *)rule + sizeof(memo->a), sizeof(memo->b));
	memo->index = unwind_rules_add(w->rules, rule);
}

void unwind_rows_turn(struct unwind_rows *w, uint64_t pc)
{
	/* A page starts with what holds there already. */
	while (w->page < pc >> UNWIND_PAGE_SHIFT && w->page + 1 < w->page_count) {
		w->pages[++w->page] = (uint32_t)w->count;
		append(w, 0, w->last_rule);
	}
}

void unwind_rows_replace(struct unwind_rows *w, uint16_t index)
{
	/* Nothing has this PC under the old rule: the row becomes the new one's, or needless. */
	w->rows[w->count - 1].rule = index;
	if (w->count - 1 > w->pages[w->page] && w->rows[w->count - 2].rule == index)
		w->count--;
}

struct unwind_rows_mark unwind_rows_mark(const struct unwind_rows *w)
{
	return (struct unwind_rows_mark){ w->count, w->page, w->last_rule };
}

void unwind_rows_rewind(struct unwind_rows *w, const struct unwind_rows_mark *mark)
{
	w->count = mark->count;
	w->page = mark->page;
	w->last_rule = mark->last_rule;
}

void unwind_rows_finish(struct unwind_rows *w)
{
	while (w->page + 1 < w->page_count) {
		w->pages[++w->page] = (uint32_t)w->count;
		append(w, 0, w->last_rule);
	}
	w->pages[w->page_count] = (uint32_t)w->count;
	w->rows = xreallocarray(w->rows, w->count, sizeof(*w->rows));
}
