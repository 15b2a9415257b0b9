/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handlers of the options of operf that choose running processes (OPT_CALL): by their ids, names or
 * cgroups. What several of them choose is added up. The caller frees the list.
 *
 *	static struct processes chosen;
 *	static const struct opt opts[] = {
 *		{ 'p', "pid", OPT_CALL, &chosen, "PID,...", "", processes_add },
 *		OPT_END
 *	};
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct processes {
	pid_t *pids; /* each once */
	size_t count, room;
	bool may_be_gone; /* they were searched for: what has ended since is no error */
};

/* Adds the processes of a comma list of ids to the struct processes @target. 0 or -EINVAL. */
int processes_add(const char *arg, void *target, struct error *err);
/* Adds each process whose name, or that of its executable, matches the shell pattern @arg; for
 * users other than root, only their own. 0, or -ESRCH if there is none. */
int processes_add_named(const char *arg, void *target, struct error *err);
/* Adds each process in or below the cgroup of the path @arg, or of which a part of its cgroup's
 * path matches the shell pattern @arg; for users other than root, only their own. 0, or -ESRCH if
 * there is none. */
int processes_add_cgroup(const char *arg, void *target, struct error *err);
