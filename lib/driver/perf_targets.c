/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf_targets.h"

#include "base/mem.h"
#include "file/procfs.h"

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

/* Adds the threads of all processes; 0, or -ESRCH if all of them have ended. */
static int add_processes(const struct driver_config *config, struct list *list, struct error *err)
{
	size_t i;

	(void)procfs_tids(config->root, (uint32_t)config->pid, add_thread, list);
	for (i = 0; i < config->other_count; i++)
		(void)procfs_tids(config->root, (uint32_t)config->others[i], add_thread, list);
	return list->count ? 0 : error_set(err, -ESRCH, "process %d: no such process", config->pid);
}

int perf_targets_find(struct perf_targets *ret, const struct driver_config *config,
		      struct error *err)
{
	struct list list = { 0 };
	int r = 0;

	if (config->scope != DRIVER_TASK)
		add(&list, -1);
	else
		r = add_processes(config, &list, err);
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
