/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf_targets.h"

#include "base/mem.h"
#include "base/procfs.h"

#include <errno.h>

struct list {
	pid_t *pids;
	size_t count, room;
};

static void add(struct list *list, pid_t pid)
{
	array_grow(&list->pids, list->count + 1, &list->room);
	list->pids[list->count++] = pid;
}

static void add_thread(uint32_t tid, void *data)
{
	add(data, (pid_t)tid);
}

/* Adds the threads of @pid; 0 or -ESRCH. */
static int add_process(const struct driver_config *config, pid_t pid, struct list *list,
		       struct error *err)
{
	size_t before = list->count;

	if (procfs_tids(config->root, (uint32_t)pid, add_thread, list) < 0 || list->count == before)
		return error_set(err, -ESRCH, "process %d: no such process", pid);
	return 0;
}

int perf_targets_find(struct perf_targets *ret, const struct driver_config *config,
		      struct error *err)
{
	struct list list = { 0 };
	int r = 0;

	if (config->scope != DRIVER_TASK)
		add(&list, -1);
	else
		r = add_process(config, config->pid, &list, err);
	for (size_t i = 0; config->scope == DRIVER_TASK && r == 0 && i < config->other_count; i++)
		r = add_process(config, config->others[i], &list, err);
	if (r < 0) {
		free(list.pids);
		return r;
	}
	*ret = (struct perf_targets){ list.pids, list.count };
	return 0;
}

void perf_targets_done(struct perf_targets *t)
{
	free(t->pids);
	*t = (struct perf_targets){ 0 };
}
