/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures time off the CPU from perf's records. Samples of the event "context switches" show where
 * tasks leave the CPU; each is translated at once, with its callers. Records of switches show when
 * tasks come back. The caller embeds the structure.
 *
 *	struct perf_offcpu o;
 *	perf_offcpu_init(&o, &attribution, counter, root);
 *	perf_offcpu_leave(&o, sample, now_ns);
 *	perf_offcpu_change(&o, cpu, record);
 *	perf_offcpu_end(&o, stopped_ns);
 *	perf_offcpu_done(&o);
 */
#pragma once

#include "driver/offcpu_stats.h"
#include "driver/perf/attribution.h"
#include "driver/perf/offcpu.h"

struct perf_offcpu {
	struct offcpu offcpu;
	uint64_t min_us;		/* shorter intervals are not counted */
	struct offcpu_squares squares;	/* of those that are */
	struct attribution attribution; /* translates the places; its stats are ->stats */
	struct driver_stats stats;	/* counts of the resulting samples */
	struct evbuf_frame one;		/* room for the frame if no chains are recorded */
	uint64_t sched_start, sched_end;
	unsigned int counter, cpu;
	bool chains;
};

/* Prepares @o to write intervals as samples of @counter, translated like those of @like, whose
 * members are borrowed except its statistics. The event's samples carry kernel call chains; the
 * kernel's symbols are read below @root. */
void perf_offcpu_init(struct perf_offcpu *o, const struct attribution *like, unsigned int counter,
		      const char *root);
/* Frees everything that @o owns; accepts a zeroed struct. */
void perf_offcpu_done(struct perf_offcpu *o);

/* Processes the sample of a task that leaves its CPU; returns false, having done nothing, if its
 * chain waits (unwinder_waits()). */
bool perf_offcpu_leave(struct perf_offcpu *o, const struct perf_record *r, uint64_t now_ns);
/* Processes any sideband record of @cpu. */
void perf_offcpu_change(struct perf_offcpu *o, unsigned int cpu, const struct perf_record *r);
/* Writes the intervals up to @now_ns of tasks still off their CPUs. */
void perf_offcpu_end(struct perf_offcpu *o, uint64_t now_ns);
/* Adds its counts to those of the driver. */
void perf_offcpu_stats(const struct perf_offcpu *o, struct driver_stats *ret);
