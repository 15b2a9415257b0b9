/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/task_list.h"

#include "base/mem.h"

#include <stdlib.h>

/* The task, without the parts for which there is no more room. */
static struct sname_task fit(const struct task_list *t, const struct sname_task *task)
{
	if (t->count >= 2 * TASK_LIST_ENOUGH)
		return SNAME_TASK_ALL;
	return (struct sname_task){ .tgid = task->tgid,
				    .tid = t->count < TASK_LIST_ENOUGH ? task->tid : SNAME_ALL,
				    .cpu = task->cpu,
				    .cgroup = task->cgroup,
				    .comm = t->by_comm ? task->comm : NULL };
}

/* The number of a task + 1; 0 if the list lacks it. */
static uintptr_t find(const struct task_list *t, const struct sname_task *task)
{
	uintptr_t number;

	map_for_each_of(&t->by_hash, sname_task_hash(task),
			number) if (sname_task_equal(&t->list[number - 1], task)) return number;
	return 0;
}

uint32_t task_list_add(struct task_list *t, const struct sname_task *task)
{
	struct sname_task fitting;
	uintptr_t number = find(t, task);

	if (number)
		return (uint32_t)(number - 1);
	fitting = fit(t, task);
	number = find(t, &fitting);
	if (!number) {
		array_grow(&t->list, t->count + 1, &t->room);
		t->list[t->count] = fitting;
		number = ++t->count;
		map_add(&t->by_hash, sname_task_hash(&fitting), (void *)number);
	}
	return (uint32_t)(number - 1);
}

bool task_list_separates(const struct task_list *t)
{
	const struct sname_task all = SNAME_TASK_ALL;
	size_t i;

	for (i = 0; i < t->count; i++)
		if (!sname_task_equal(&t->list[i], &all))
			return true;
	return false;
}

void task_list_done(struct task_list *t)
{
	free(t->list);
	map_done(&t->by_hash);
	*t = (struct task_list){ 0 };
}
