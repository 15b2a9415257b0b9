/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The set of CPUs being sampled, which follows CPUs going on and off line, with one descriptor that
 * polls readable when any of their rings fills. The caller embeds the set; it borrows plan and
 * targets and owns the rest.
 *
 *	perf_cpuset_open(&set, &plan, &targets, err);
 *	perf_cpuset_enable_sideband(&set, true);
 *	perf_cpuset_update(&set, &change);
 *	perf_cpuset_close(&set);
 */
#pragma once

#include "driver/perf_cpu.h"

struct perf_cpuset {
	struct perf_plan *plan;		    /* borrowed */
	const struct perf_targets *targets; /* borrowed */
	struct perf_cpu *cpus;		    /* by number */
	size_t count;
	uint64_t waited_on_closed;
	struct driver_cpu_stats *totals; /* by number; lost samples only of CPUs that went */
	size_t total_count;
	int epoll; /* -1: not open */
	bool sideband_on, samples_on;
};

/* The result of perf_cpuset_update(). */
struct perf_cpuset_change {
	unsigned int came, went; /* CPUs */
};

/* Opens the events of all online CPUs, with the largest rings, up to the size in the plan, that the
 * kernel grants on all of them. Returns 0 or -errno. Caller closes, even after a failure. */
int perf_cpuset_open(struct perf_cpuset *ret, struct perf_plan *plan,
		     const struct perf_targets *targets, struct error *err);
/* Closes all events, including those left by a failed perf_cpuset_open(); accepts a zeroed set with
 * ->epoll = -1. */
void perf_cpuset_close(struct perf_cpuset *set);

/* Closes @old and moves its totals to @set, which must have none of its own yet. */
void perf_cpuset_succeed(struct perf_cpuset *set, struct perf_cpuset *old);

/* Switches sideband records (changes of processes and code) on or off, also for CPUs that come
 * later. Returns 0 or -errno. */
int perf_cpuset_enable_sideband(struct perf_cpuset *set, bool on);
/* Switches sampling on or off, also for CPUs that come later. Returns 0 or -errno. */
int perf_cpuset_enable_samples(struct perf_cpuset *set, bool on);

/* Closes the events of CPUs that went, dropping the contents of their rings, and opens those of
 * CPUs that came; reopens those of a CPU that was briefly off line. Call it seconds apart. */
void perf_cpuset_update(struct perf_cpuset *set, struct perf_cpuset_change *ret);

/* Clears pending wakeups from the descriptor. */
void perf_cpuset_clear_wakeups(struct perf_cpuset *set);
/* Whether more than half of any ring is in use, as of the last read. */
bool perf_cpuset_half_full(const struct perf_cpuset *set);

/* Reads from all events how many samples they could not write. */
void perf_cpuset_read_lost(struct perf_cpuset *set);
/* Samples lost so far. */
uint64_t perf_cpuset_lost(const struct perf_cpuset *set);
/* The totals of @cpu, to be updated by the caller, except lost samples, which the set counts. Kept
 * after the CPU goes. Borrowed until the next call. */
struct driver_cpu_stats *perf_cpuset_totals(struct perf_cpuset *set, unsigned int cpu);
/* Copies the totals of @cpu including lost samples; all zero for a CPU that was never there. */
void perf_cpuset_cpu_stats(const struct perf_cpuset *set, unsigned int cpu,
			   struct driver_cpu_stats *ret);
/* The CPU with that number, or NULL. */
struct perf_cpu *perf_cpuset_find(struct perf_cpuset *set, unsigned int cpu);
/* Writes the cost of each CPU up to @now_ns, without BPF programs, and returns their number (see
 * driver_ops.costs). */
size_t perf_cpuset_costs(struct perf_cpuset *set, uint64_t now_ns, struct driver_cost *ret,
			 size_t room);
/* Nanoseconds, summed over all events, during which other users had their counters. */
uint64_t perf_cpuset_waited_ns(const struct perf_cpuset *set);
