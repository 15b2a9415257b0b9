/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/internal/unwind_rows.h"

#include "base/mem.h"

static size_t count_rows(const struct unwind_rows *w)
{
	return (size_t)(w->next - w->rows);
}

void unwind_rows_grow(struct unwind_rows *w)
{
	size_t count = count_rows(w), room = (size_t)(w->end - w->rows);

	array_grow(&w->rows, count + 1, &room);
	w->next = w->rows + count;
	w->end = w->rows + room;
}

static void append(struct unwind_rows *w, uint16_t pc, uint16_t rule)
{
	*w->next++ = (struct unwind_row){ pc, rule };
	if (w->next == w->end)
		unwind_rows_grow(w);
}

void unwind_rows_init(struct unwind_rows *w, struct unwind_rules *rules, uint64_t base,
		      size_t page_count, size_t room)
{
	size_t grown = 0;

	memset(w, 0, sizeof(*w));
	w->rules = rules;
	w->base = base;
	w->page_count = page_count;
	w->pages = xcalloc(page_count + 1, sizeof(*w->pages));
	array_grow(&w->rows, MAX(room, (size_t)2), &grown);
	w->next = w->rows;
	w->end = w->rows + grown;
	append(w, 0, 0);
}

/* Whether the return address would be below the stack pointer, where a value does not survive: some
 * assembler (memcpy() of glibc for i386) loses count of what it has pushed. What is there instead
 * may well look like a caller. */
static bool is_below_stack(const struct unwind_rows *w, const struct unwind_rule *rule)
{
	return w->ra_word && rule->cfa == UNWIND_CFA_REG && rule->base == UNWIND_BASE_SP &&
	       UNWIND_SAVE_RA(rule->saves) == UNWIND_AT_CFA &&
	       rule->cfa_offset + (int64_t)rule->ra * w->ra_word < 0;
}

uint16_t unwind_rows_learn(struct unwind_rows *w, struct unwind_rows_memo *memo, uint64_t a,
			   uint64_t b)
{
	uint64_t words[2] = { a, b };
	struct unwind_rule rule;

	memcpy(&rule, words, sizeof(rule));
	if (is_below_stack(w, &rule))
		rule = (struct unwind_rule){ .base = UNWIND_WHY_DAMAGED };
	memo->a = a;
	memo->b = b;
	memo->rule = unwind_rules_add(w->rules, &rule);
	return memo->rule;
}

/* unwind_rows_put() need not look further for PCs below this. */
static void set_until(struct unwind_rows *w)
{
	w->until = MIN(w->limit, ((uint64_t)w->page + 1) << UNWIND_PAGE_SHIFT);
}

void unwind_rows_limit(struct unwind_rows *w, uint64_t limit)
{
	w->limit = limit;
	set_until(w);
}

bool unwind_rows_turn(struct unwind_rows *w, uint64_t pc)
{
	if (pc >= w->limit)
		return false;
	/* A page starts with the rule that applies there already. */
	while (w->page < pc >> UNWIND_PAGE_SHIFT && w->page + 1 < w->page_count) {
		w->pages[++w->page] = (uint32_t)count_rows(w);
		append(w, 0, w->last_rule);
	}
	set_until(w);
	return true;
}

void unwind_rows_replace(struct unwind_rows *w, uint16_t index)
{
	/* No code has the old rule: the row gets the new one, or is no longer needed. */
	w->next[-1].rule = index;
	if (count_rows(w) - 1 > w->pages[w->page] && w->next[-2].rule == index)
		w->next--;
}

struct unwind_rows_mark unwind_rows_mark(const struct unwind_rows *w)
{
	return (struct unwind_rows_mark){ count_rows(w), w->page, w->last_rule };
}

void unwind_rows_rewind(struct unwind_rows *w, const struct unwind_rows_mark *mark)
{
	w->next = w->rows + mark->count;
	w->page = mark->page;
	w->last_rule = mark->last_rule;
	set_until(w);
}

size_t unwind_rows_finish(struct unwind_rows *w)
{
	size_t count;

	while (w->page + 1 < w->page_count) {
		w->pages[++w->page] = (uint32_t)count_rows(w);
		append(w, 0, w->last_rule);
	}
	count = count_rows(w);
	w->pages[w->page_count] = (uint32_t)count;
	w->rows = xreallocarray(w->rows, count, sizeof(*w->rows));
	return count;
}
