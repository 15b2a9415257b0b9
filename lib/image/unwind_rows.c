/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind_rows.h"

#include "base/mem.h"

#include <string.h>

enum { PAGE_MASK = (1 << UNWIND_PAGE_SHIFT) - 1 };

static void append(struct unwind_rows *w, uint16_t pc, uint16_t rule)
{
	if (w->count == w->room)
		array_grow(&w->rows, w->count + 1, &w->room);
	w->rows[w->count++] = (struct unwind_row){ pc, rule };
}

void unwind_rows_init(struct unwind_rows *w, struct unwind_rules *rules, size_t page_count)
{
	memset(w, 0, sizeof(*w));
	w->rules = rules;
	w->page_count = page_count;
	w->pages = xcalloc(page_count + 1, sizeof(*w->pages));
	append(w, 0, 0);
}

static inline uint16_t index_of(struct unwind_rows *w, uint64_t a, uint64_t b)
{
	const uint64_t words[2] = { a, b };
	struct unwind_rule rule;
	size_t i;

	i = (a * 0x9e3779b97f4a7c15ULL + b * 0xbf58476d1ce4e5b9ULL) >> 55;
	static_assert(UNWIND_ROWS_MEMO == 1 << (64 - 55), "as many as the hash has");
	if (_unlikely_(!w->memo[i].index || w->memo[i].a != a || w->memo[i].b != b)) {
		w->memo[i].a = a;
		w->memo[i].b = b;
		memcpy(&rule, words, sizeof(rule));
		w->memo[i].index = unwind_rules_add(w->rules, &rule);
	}
	return (uint16_t)w->memo[i].index;
}

void unwind_rows_put(struct unwind_rows *w, uint64_t pc, struct unwind_rule rule)
{
	size_t page = pc >> UNWIND_PAGE_SHIFT, first;
	uint16_t low = pc & PAGE_MASK, index;
	uint64_t a, b;

	/* A page starts with what holds there already. */
	while (w->page < page && w->page + 1 < w->page_count) {
		w->pages[++w->page] = (uint32_t)w->count;
		append(w, 0, w->last_rule);
	}
	memcpy(&a, &rule, sizeof(a));
	memcpy(&b, (const char *)&rule + sizeof(a), sizeof(b));
	if (a == w->last[0] && b == w->last[1])
		return;
	index = index_of(w, a, b);
	w->last[0] = a;
	__asm__("" : "+r"(b)); /* or compilers store both at once, after reading both back */
	w->last[1] = b;
	if (index == w->last_rule)
		return;
	w->last_rule = index;
	if (w->rows[w->count - 1].pc != low) {
		append(w, low, index);
		return;
	}
	/* Nothing has this PC under the old rule: the row becomes the new one's, or needless. */
	w->rows[w->count - 1].rule = index;
	first = w->pages[w->page];
	if (w->count - 1 > first && w->rows[w->count - 2].rule == index)
		w->count--;
}

struct unwind_rows_mark unwind_rows_mark(const struct unwind_rows *w)
{
	return (struct unwind_rows_mark){
		w->count, w->page, w->last_rule, { w->last[0], w->last[1] }
	};
}

void unwind_rows_rewind(struct unwind_rows *w, const struct unwind_rows_mark *mark)
{
	w->count = mark->count;
	w->page = mark->page;
	w->last_rule = mark->last_rule;
	memcpy(w->last, mark->last, sizeof(w->last));
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
