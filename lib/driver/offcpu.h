/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long tasks are off the CPU, and where they left it: the records of context switches, in the
 * order of time, become intervals. Bookkeeping alone: nothing here reads or opens anything.
 *
 *	struct offcpu o = { 0 };
 *	while ((r = next record))
 *		if ((us = offcpu_take(&o, r, &left)))
 *			count us at left.ip of left.pid;
 *	offcpu_done(&o);
 */
#pragma once

#include "base/map.h"
#include "driver/perf_record.h"

struct offcpu {
	struct map left;   /* tid to the place where the task left its CPU */
	bool blocked_only; /* tasks that had to leave, and could have gone on, do not count */
};

/* Takes a record of the event that perf_event_open_switches() opens: a sample where a task leaves,
 * then the switches of all tasks. When one comes back, the place where it had left is in *@ret, as
 * a sample of that moment, and the microseconds between are returned; else 0. After a loss of
 * records nothing that was open counts. */
uint64_t offcpu_take(struct offcpu *o, const struct perf_record *r, struct perf_record *ret);
/* Calls @each with those still off their CPU at @now_ns, which are forgotten. */
void offcpu_end(struct offcpu *o, uint64_t now_ns,
		void (*each)(const struct perf_record *left, uint64_t us, void *data), void *data);
/* Frees everything. */
void offcpu_done(struct offcpu *o);
