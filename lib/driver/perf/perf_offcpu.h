/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time off the CPU, from perf's records: samples of the event "context switches" say where tasks
 * leave the CPU; each is placed at once, with its callers. The records of switches say when tasks
 * come back.
 *
 *	struct perf_offcpu o;
 *	perf_offcpu_init(&o, &attribution, counter, root);
 *	perf_offcpu_leave(&o, sample, now_ns);
 *	perf_offcpu_change(&o, cpu, record);
 *	perf_offcpu_end(&o, stopped_ns);
 *	perf_offcpu_done(&o);
 */
#pragma once

#include "driver/perf/attribution.h"
#include "driver/perf/offcpu.h"

struct perf_offcpu {
	struct offcpu offcpu;
	struct attribution attribution; /* of the places; its stats are ->stats */
	struct driver_stats stats;	/* of the counts that come of it */
	struct evbuf_frame one;		/* room for the frames where no chains are taken */
	uint64_t sched_start, sched_end;
	unsigned int counter, cpu;
	bool chains;
};

/* Intervals become samples of @counter, attributed as @like does, which is borrowed but for its
 * statistics. The event's samples carry call chains of the kernel, whose symbols are below @root.
 */
void perf_offcpu_init(struct perf_offcpu *o, const struct attribution *like, unsigned int counter,
		      const char *root);
/* Frees what it holds; all-zero is fine. */
void perf_offcpu_done(struct perf_offcpu *o);

/* Takes a sample of a task that leaves. */
void perf_offcpu_leave(struct perf_offcpu *o, const struct perf_record *r, uint64_t now_ns);
/* Takes any record of a change, on @cpu. */
void perf_offcpu_change(struct perf_offcpu *o, unsigned int cpu, const struct perf_record *r);
/* Counts those still off their CPUs up to @now_ns. */
void perf_offcpu_end(struct perf_offcpu *o, uint64_t now_ns);
/* Adds to the driver's. */
void perf_offcpu_stats(const struct perf_offcpu *o, struct driver_stats *ret);
