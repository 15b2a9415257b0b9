/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long tasks are off the CPU: the records of context switches, in the order of time, become
 * intervals. Bookkeeping alone: nothing here reads or opens anything, and what stands for the place
 * where a task left is the caller's.
 *
 *	struct offcpu o = { 0 };
 *	offcpu_leave(&o, tid, now_ns, place);		as a task leaves its CPU
 *	if ((us = offcpu_take(&o, record, &place)))	for each record of a change
 *		...			count us at place, free it
 *	offcpu_done(&o);
 */
#pragma once

#include "base/map.h"
#include "perf/perf_record.h"

struct offcpu {
	struct map left;   /* tid to who left its CPU */
	bool blocked_only; /* tasks that had to leave, and could have gone on, do not count */
};

/* Task @tid leaves its CPU at @place, which is taken, and freed by free(). */
void offcpu_leave(struct offcpu *o, uint32_t tid, uint64_t time_ns, void *place);
/* Takes a record of a switch, an exit or a loss. When a task comes back, the place where it had
 * left is in *@ret_place, the caller's now, and the microseconds between are returned; else 0.
 * After a loss of records nothing that was open counts. */
uint64_t offcpu_take(struct offcpu *o, const struct perf_record *r, void **ret_place);
/* Calls @each with the places, borrowed, of those still off their CPU at @now_ns, which are
 * forgotten. */
void offcpu_end(struct offcpu *o, uint64_t now_ns,
		void (*each)(const void *place, uint64_t us, void *data), void *data);
/* Frees everything. */
void offcpu_done(struct offcpu *o);
