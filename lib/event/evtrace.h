/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's tracepoints, which tracefs lists by group: "sched:sched_switch". @root is "" for
 * this machine, or the directory that contains a recorded machine's files.
 *
 *	uint64_t id;
 *	if (evtrace_find("", "sched", "sched_switch", &id, &err) == 0)
 *		printf("%llu", (unsigned long long)id);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct event;

/* Returns the specification of a tracepoint with its name as in sample files,
 * "sched~sched_switch:1" for "sched:sched_switch:1" or "tracepoint:sched:sched_switch:1", or of a
 * function of the kernel, "kprobe~vfs_read:1"; the caller frees it. NULL: the first part is no
 * group, or the second one no name, but a count, or letters as in "cycles:u". If tracefs cannot be
 * read, any name in small letters may be a group. */
char *evtrace_join(const char *root, const char *spec);
/* Whether tracefs has a group called @name. */
bool evtrace_has_group(const char *root, const char *name);
/* Finds the number of a tracepoint. Returns 0, or -ENOENT, -EACCES and a message with a remedy. */
int evtrace_find(const char *root, const char *group, const char *name, uint64_t *ret_id,
		 struct error *err);
/* Fills in how the tracepoint @group:@name is sampled, or, in the groups "kprobe" and "kretprobe",
 * the function of the kernel @name, which may have a comma and an offset. Errors as evtrace_find().
 */
int evtrace_encode(const char *root, const char *group, const char *name, struct event *event,
		   struct error *err);
/* Calls @each for every tracepoint, in order of their names. Returns 0, or -errno and the reason
 * why they cannot be listed. */
int evtrace_each(const char *root, void (*each)(const char *group, const char *name, void *data),
		 void *data, struct error *err);
