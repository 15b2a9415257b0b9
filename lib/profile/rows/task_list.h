/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tasks that a profile's samples are separated by: each combination of cgroup, process, thread
 * and CPU once, numbered from 0. The strings of the tasks are borrowed.
 *
 *	struct task_list t = { 0 };
 *	number = task_list_add(&t, &sname.task);
 *	task_list_done(&t);
 */
#pragma once

#include "base/map.h"
#include "sfile/sname.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When a list has so many tasks, further ones lose their threads; after twice as many, all that
 * separates them. */
enum { TASK_LIST_ENOUGH = 30000 };

struct task_list {
	struct sname_task *list;
	size_t count, room;
	struct map by_hash; /* index + 1 */
	bool by_comm;	    /* set by the caller: by the names of threads, too */
};

/* The number of a task, which is added if it is new. */
uint32_t task_list_add(struct task_list *t, const struct sname_task *task);
/* Whether samples are separated at all: some task is not SNAME_TASK_ALL. */
bool task_list_separates(const struct task_list *t);
/* Frees the list. */
void task_list_done(struct task_list *t);
