/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that a profile was asked for by their numbers. While sampling pauses, such a number
 * may become that of another process, which is not asked for.
 *
 *	process_asked_note(&asked, "", 4711, others, other_count);	before sampling
 *	process_asked_follow(&asked, &table);				each time it starts
 *	process_asked_done(&asked);
 */
#pragma once

#include "process/process.h"

#include <sys/types.h>

struct process_asked {
	const char *root; /* borrowed */
	struct {
		uint32_t tgid;
		uint64_t born; /* when it started, as /proc/PID/stat says; 0: not known */
	} * list;
	size_t count;
};

/* Notes @pid and @others, if that was not done yet. Borrows @root. */
void process_asked_note(struct process_asked *a, const char *root, pid_t pid, const pid_t *others,
			size_t count);
/* Frees the list. */
void process_asked_done(struct process_asked *a);

/* Marks those in the table as followed that are still there and the same, making those that are
 * missing. */
void process_asked_follow(const struct process_asked *a, struct process_table *t);
