/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Common state of the drivers that sample with perf events: which events are open on which CPUs,
 * CPUs going on and off line, the rings, and totals. A driver embeds it; it owns everything it
 * points to.
 *
 *	struct sampling s = SAMPLING_INIT;
 *	if (sampling_plan(&s, "perf", &config, err) == 0 && sampling_open(&s, err) == 0)
 *		sampling_read(&s, &handler, until_ns);
 *	sampling_done(&s);
 */
#pragma once

#include "driver/perf_cpuset.h"
#include "perf/ring_merge.h"

struct sampling {
	struct perf_plan plan;
	struct perf_targets targets;
	struct perf_cpuset cpus;
	struct driver_stats stats; /* without lost samples, which ->cpus counts */
	bool running;
	uint64_t looked_at_cpus_ns;
};

#define SAMPLING_INIT                                                                              \
	{                                                                                          \
		.cpus = {.epoll = -1 }                                                             \
	}

/* Decides which events to open for @driver (perf_plan.h), and for which tasks. The caller may
 * change ->plan before sampling_open(). Returns 0 or -errno. */
int sampling_plan(struct sampling *s, const char *driver, const struct driver_config *config,
		  struct error *err);
/* Opens the events on all CPUs. Returns 0 or -errno. */
int sampling_open(struct sampling *s, struct error *err);
/* Closes the events and frees everything. */
void sampling_done(struct sampling *s);

/* Disables the events at @now_ns; false if sampling was not running. */
bool sampling_stop(struct sampling *s, uint64_t now_ns);
/* Passes all records up to @until_ns to @handler (ring_merge_run()). */
void sampling_read(struct sampling *s, const struct ring_merge_handler *handler, uint64_t until_ns);
/* Opens and closes events on CPUs that came and went, and lets periods wander, at most once per
 * second. Returns whether any CPU came. */
bool sampling_look_at_cpus(struct sampling *s, uint64_t now_ns);
/* Implements driver_ops.stretch. */
int sampling_stretch(struct sampling *s, unsigned int cpu, uint32_t stretch);
