/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tasks that events are opened for: none in particular, or the threads of a process. */
#pragma once

#include "driver/driver.h"

struct perf_targets {
	pid_t *pids; /* or one, -1: all */
	size_t count;
};

/* The targets of @config; 0, or -ESRCH if there is no such process. Caller calls _done(). */
int perf_targets_find(struct perf_targets *ret, const struct driver_config *config,
		      struct error *err);
/* Frees what it holds; all-zero is fine. */
void perf_targets_done(struct perf_targets *t);
