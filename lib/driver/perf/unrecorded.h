/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that a process has put in the place of a file's text with mremap(2): the kernel writes no
 * record of that. So processes that are sampled are read again, one at a time, in other threads.
 * What was read is compared once all records are known that were written before: what disagrees
 * then has none. The caller has the struct.
 *
 *	struct unrecorded check = { 0 };
 *
 *	unrecorded_tidy(&check, &from, now_ns);		at each sync
 *	unrecorded_drop(&check, &from, tgid);	before the process is read for another reason
 */
#pragma once

#include "driver/perf/process_reader.h"

struct driver_stats;

struct unrecorded {
	uint32_t tgid;	  /* of the process that is being looked at; 0: none */
	bool is_read;	  /* in an earlier sync */
	uint64_t next_ns; /* when the next one may be */
};

/* What it works with; all borrowed. */
struct unrecorded_from {
	struct process_table *processes;
	struct cookie_table *cookies;
	struct process_reader *reader;
	struct driver_stats *stats;
};

/* Goes on checking: begins to read a process that was sampled, or corrects what was known of one,
 * and counts that (maps_unrecorded). */
void unrecorded_tidy(struct unrecorded *u, const struct unrecorded_from *from, uint64_t now_ns);
/* Gives up the check of process @tgid, if there is one. */
void unrecorded_drop(struct unrecorded *u, const struct unrecorded_from *from, uint32_t tgid);
