/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of one CPU and their two rings: one for samples, one for sideband records. With tasks
 * as targets there are events for each task, all writing into the same rings.
 */
#pragma once

#include "driver/perf_plan.h"
#include "driver/internal/perf_targets.h"
#include "perf/ring.h"

struct perf_record;

/* A sampling event as opened. */
struct perf_source {
	int fd, attached;	  /* -1: to nobody */
	unsigned int counter;	  /* index of the event */
	uint64_t id;		  /* in its records */
	uint64_t throttled_since; /* ns, 0: is not throttled */
};

struct perf_cpu {
	unsigned int cpu;
	struct ring samples, sideband;
	struct perf_source *sources; /* targets times those events that count on this CPU, which
				      * may be none; the first owns the ring */
	size_t source_count;
	int *sideband_fds; /* one a target, and one of context switches; likewise */
	size_t sideband_count;
	uint64_t lost_recorded; /* samples lost, by the records in the ring */
	uint64_t lost_read;	/* by what the events say themselves */
	uint64_t lost_settled;	/* of them, those in ->lost */
	uint64_t lost;		/* weighed */
	uint64_t taken;		/* samples */
	/* What each sample stands for, in 1/STRETCH_ONE, since ->stretched_ns, and before.
	 */
	uint32_t stretch, stretch_before;
	uint64_t stretched_ns;
	double ticks;	    /* of the clock, also while it was idle */
	uint64_t ticked_ns; /* when they were counted last; 0: it stands still */
	uint64_t waited_ns; /* while others had the counters */
	bool sideband_on;
	uint64_t alive_ns; /* time that the sideband had been on by the last look; 0: not looked */
};

/* Opens all for @cpu, disabled. 0 or -errno: -ENODEV if that CPU is not online, -ENOBUFS if the
 * kernel does not grant rings of that size. Caller closes. */
int perf_cpu_open(struct perf_cpu *ret, unsigned int cpu, struct perf_plan *plan,
		  const struct perf_targets *targets, struct error *err);
/* Closes all; all-zero is fine. */
void perf_cpu_close(struct perf_cpu *c);

/* Lets the events report changes, or not; 0 or -errno. */
int perf_cpu_enable_sideband(struct perf_cpu *c, bool on);
/* Lets them sample, or not; 0 or -errno. */
int perf_cpu_enable_samples(struct perf_cpu *c, bool on);

/* Whether the events are dead, as they are for good once their CPU was offline, be it for a moment
 * or while the machine slept: their time has stood still since the last call, a second ago or more.
 */
bool perf_cpu_stands_still(struct perf_cpu *c);

/* Asks the events how many samples they could not write; the ring's records tell all but the last
 * of them. */
void perf_cpu_read_lost(struct perf_cpu *c, const struct perf_plan *plan);
/* Samples lost on this CPU, each counted as what it would have stood for. */
uint64_t perf_cpu_lost(const struct perf_cpu *c);

/* Lets the events sample more rarely (driver_ops.stretch); 0 or -errno. */
int perf_cpu_stretch(struct perf_cpu *c, const struct perf_plan *plan, uint32_t stretch,
		     uint64_t now_ns);
/* What a sample of the time @at_ns stands for, in 1/STRETCH_ONE. */
uint32_t perf_cpu_stretch_at(const struct perf_cpu *c, uint64_t at_ns);
/* Counts the ticks of the clock up to @now_ns; it goes on if it is @on. */
void perf_cpu_tick(struct perf_cpu *c, const struct perf_plan *plan, uint64_t now_ns, bool on);

/* The source of records with @id, or NULL. */
struct perf_source *perf_cpu_source(struct perf_cpu *c, uint64_t id);
/* Takes in what the kernel says in the sample ring beside samples: lost ones, throttling. */
void perf_cpu_notice(struct perf_cpu *c, const struct perf_record *r, struct driver_stats *stats);
/* Ends the throttling that still goes on, as of @now_ns. */
void perf_cpu_end_throttling(struct perf_cpu *c, uint64_t now_ns, struct driver_stats *stats);
