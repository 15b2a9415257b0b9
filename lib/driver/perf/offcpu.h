/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how long tasks are off the CPU, from records of context switches in time order. It only
 * does the bookkeeping, without reading or opening anything. The place where a task left the CPU is
 * an opaque pointer of the caller, which this owns from offcpu_leave() until offcpu_take() returns
 * it.
 *
 *	struct offcpu o = { 0 };
 *	offcpu_leave(&o, tid, now_ns, place);		as a task leaves its CPU
 *	if ((us = offcpu_take(&o, cpu, record, &place)))	for each record of a change
 *		...			count us at place, free it
 *	offcpu_done(&o);
 */
#pragma once

#include "base/map.h"
#include "perf/perf_record.h"

struct offcpu {
	struct map left;   /* tid to struct left: tasks off their CPUs */
	uint32_t *running; /* by CPU: the last task that came */
	size_t room;	   /* CPUs in ->running */
	bool blocked_only; /* ignore preempted tasks */
};

/* Records that task @tid leaves its CPU at @place. Takes @place, to be freed with free(). */
void offcpu_leave(struct offcpu *o, uint32_t tid, uint64_t time_ns, void *place);
/* Processes a record, from the ring of @cpu, of a context switch, a fork, an exit or a loss. If a
 * task comes back, returns the microseconds it was away, with the place where it left in
 * *@ret_place, which the caller frees; else 0. A loss of records discards all open intervals. */
uint64_t offcpu_take(struct offcpu *o, unsigned int cpu, const struct perf_record *r,
		     void **ret_place);
/* Calls @each with the borrowed place and the interval of each task still off its CPU at @now_ns,
 * then forgets these tasks. */
void offcpu_end(struct offcpu *o, uint64_t now_ns,
		void (*each)(const void *place, uint64_t us, void *data), void *data);
/* Frees everything. */
void offcpu_done(struct offcpu *o);
