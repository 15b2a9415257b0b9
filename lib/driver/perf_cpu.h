/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The perf events of one CPU and their two rings: one for samples, one for sideband records
 * (changes of processes and code). If the targets are tasks, each task has its own events, all
 * writing to the same rings. The caller embeds struct perf_cpu and closes it.
 */
#pragma once

#include "driver/perf_plan.h"
#include "driver/perf_targets.h"
#include "driver/wander.h"
#include "perf/ring.h"

struct perf_record;

/* An open sampling event. */
struct perf_source {
	int fd, attached;	  /* ->attached is -1 if the ring gets the samples */
	unsigned int counter;	  /* index of the event */
	uint64_t id;		  /* in the event's records */
	uint64_t throttled_since; /* ns; 0: not throttled */
	struct wander wander;	  /* of its period */
	uint64_t counted;	  /* events when the period changed last */
};

struct perf_cpu {
	unsigned int cpu;
	struct ring samples, sideband;
	struct perf_source *sources; /* one for each target and event that counts on this CPU,
				      * possibly none; the first owns the ring */
	size_t source_count;
	int *sideband_fds; /* one per target, one for switches; the first owns the ring */
	size_t sideband_count;
	uint64_t lost_recorded; /* lost samples, from the records in the ring */
	uint64_t lost_read;	/* the same, as read from the events */
	uint64_t lost_settled;	/* of these, those already in ->lost */
	uint64_t lost;		/* lost samples, scaled by the stretch */
	uint64_t taken;		/* number of samples */
	/* How many samples each one counts as, in 1/STRETCH_ONE: since ->stretched_ns, and
	 * before. */
	uint32_t stretch, stretch_before;
	uint64_t stretched_ns;
	double ticks;	    /* of the clock, including while idle */
	uint64_t ticked_ns; /* when ->ticks was last updated; 0: the clock is stopped */
	uint64_t waited_ns; /* while other users had the counters */
	bool sideband_on;
	uint64_t alive_ns; /* enabled time of the sideband event at the last check; 0: none yet */
};

/* Opens all events of @cpu, disabled. Returns 0 or -errno: -ENODEV if that CPU is not online,
 * -ENOBUFS if the kernel does not grant rings of that size. Caller closes. */
int perf_cpu_open(struct perf_cpu *ret, unsigned int cpu, struct perf_plan *plan,
		  const struct perf_targets *targets, struct error *err);
/* Closes all events; accepts a zeroed struct. */
void perf_cpu_close(struct perf_cpu *c);

/* Switches sideband records on or off. Returns 0 or -errno. */
int perf_cpu_enable_sideband(struct perf_cpu *c, bool on);
/* Switches sampling on or off. Returns 0 or -errno. */
int perf_cpu_enable_samples(struct perf_cpu *c, bool on);

/* Whether the events are dead: their enabled time has not advanced since the last call, at least a
 * second ago. Events die for good when their CPU goes off line, even briefly or during suspend. */
bool perf_cpu_stands_still(struct perf_cpu *c);

/* Reads from the events how many samples they could not write; the records in the ring report all
 * but the most recent. */
void perf_cpu_read_lost(struct perf_cpu *c, const struct perf_plan *plan);
/* Lost samples of this CPU, each scaled by the stretch in force. */
uint64_t perf_cpu_lost(const struct perf_cpu *c);

/* Makes the events sample more rarely (driver_ops.stretch). Returns 0 or -errno. */
int perf_cpu_stretch(struct perf_cpu *c, const struct perf_plan *plan, uint32_t stretch,
		     uint64_t now_ns);
/* Lets the periods of the events wander (wander.h); at most once per second. */
void perf_cpu_wander(struct perf_cpu *c, const struct perf_plan *plan, uint64_t now_ns);
/* How many samples one taken at @at_ns counts as, in 1/STRETCH_ONE. */
uint32_t perf_cpu_stretch_at(const struct perf_cpu *c, uint64_t at_ns);
/* Adds the ticks of the clock up to @now_ns; @on says whether it keeps ticking. */
void perf_cpu_tick(struct perf_cpu *c, const struct perf_plan *plan, uint64_t now_ns, bool on);

/* The source whose records have @id, or NULL. */
struct perf_source *perf_cpu_source(struct perf_cpu *c, uint64_t id);
/* Processes a record of the sample ring that is not a sample: lost samples or throttling. */
void perf_cpu_notice(struct perf_cpu *c, const struct perf_record *r, struct driver_stats *stats);
/* Ends any throttling still in progress at @now_ns. */
void perf_cpu_end_throttling(struct perf_cpu *c, uint64_t now_ns, struct driver_stats *stats);
