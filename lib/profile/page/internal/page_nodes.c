/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/internal/page_nodes.h"

#include "base/macro.h"
#include "profile/page/internal/page_columns.h"
#include "profile/page/internal/page_moments.h"
#include "profile/page/internal/page_tree.h"

void page_nodes_depths(struct page_columns *c, const struct page_tree *t)
{
	uint32_t *numbers = page_columns_begin(c, "depth", t->shown);
	size_t i;

	for (i = 0; i < t->shown; i++)
		numbers[i] = t->items[i].depth;
	page_columns_end(c);
}

void page_nodes_untimed(struct page_columns *c, struct page_tree *t, const struct page_moments *m)
{
	uint32_t *numbers;
	size_t i;

	for (i = 0; i < m->count; i++) {
		uint32_t *self = &t->items[m->list[i].place].self;

		*self -= MIN(*self, m->list[i].samples);
	}
	numbers = page_columns_begin(c, "untimed", t->shown);
	for (i = 0; i < t->shown; i++)
		numbers[i] = t->items[i].self;
	page_columns_end(c);
}

void page_nodes_moments(struct page_columns *c, const struct page_moments *m, bool by_task)
{
	const struct page_moment *list = m->list;
	const size_t count = m->count, tasks = by_task ? count : 0;
	uint32_t *numbers = page_columns_begin(c, "after", count);
	size_t i;

	for (i = 0; i < count; i++)
		numbers[i] = list[i].place - (i ? list[i - 1].place : 0);
	page_columns_end(c);
	numbers = page_columns_begin(c, "step", count);
	for (i = 0; i < count; i++)
		numbers[i] = list[i].step;
	page_columns_end(c);
	numbers = page_columns_begin(c, "count", count);
	for (i = 0; i < count; i++)
		numbers[i] = list[i].samples;
	page_columns_end(c);
	numbers = page_columns_begin(c, "task", tasks);
	for (i = 0; i < tasks; i++)
		numbers[i] = list[i].task;
	page_columns_end(c);
}
