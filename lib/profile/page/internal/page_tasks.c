/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/internal/page_tasks.h"

#include "base/mem.h"
#include "base/radix.h"
#include "profile/rows/chains.h"

#include <stdlib.h>

void page_tasks_begin(struct page_tasks *t, const struct chains *c, size_t most)
{
	const size_t count = c->tasks.count;
	_cleanup_free_ struct radix_entry *order = NULL;
	size_t i;

	t->chains = c;
	if (count <= most)
		return;
	order = xcalloc(2 * count, sizeof(*order));
	for (i = 0; i < count; i++)
		order[i].value = i;
	for (i = 0; i < c->part_count; i++)
		order[c->parts[i].task].key += c->parts[i].samples;
	radix_sort(order, order + count, count);
	t->is_other = xcalloc(count, sizeof(*t->is_other));
	t->others = count - most;
	for (i = 0; i < t->others; i++)
		t->is_other[order[i].value] = true;
}

uint32_t page_tasks_number(struct page_tasks *t, uint32_t task)
{
	static const struct sname_task other = SNAME_TASK_ALL;

	if (!t->chains->tasks.count)
		return 0;
	return task_list_add(
		&t->list, t->is_other && t->is_other[task] ? &other : &t->chains->tasks.list[task]);
}

void page_tasks_done(struct page_tasks *t)
{
	task_list_done(&t->list);
	free(t->is_other);
	*t = (struct page_tasks){ 0 };
}
