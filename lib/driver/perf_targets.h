/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tasks for which events are opened: all tasks, or the threads of one process. The caller
 * releases the list with perf_targets_done(). */
#pragma once

#include "driver/driver.h"

struct perf_targets {
	pid_t *pids; /* a single -1: all tasks */
	size_t count;
};

/* Finds the targets of @config. Returns 0, or -ESRCH if no such process. Caller calls
 * perf_targets_done(). */
int perf_targets_find(struct perf_targets *ret, const struct driver_config *config,
		      struct error *err);
/* Frees the list; accepts a zeroed struct. */
void perf_targets_done(struct perf_targets *t);
