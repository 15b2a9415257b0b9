/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs that are sampled: those that are online, as they come and go, and one descriptor that
 * polls readable when a ring of any of them fills.
 *
 *	perf_cpuset_open(&set, &plan, &targets, err);
 *	perf_cpuset_enable_sideband(&set, true);
 *	perf_cpuset_update(&set, &change);
 *	perf_cpuset_close(&set);
 */
#pragma once

#include "driver/internal/perf_cpu.h"

struct perf_cpuset {
	struct perf_plan *plan;		    /* borrowed */
	const struct perf_targets *targets; /* borrowed */
	struct perf_cpu *cpus;		    /* by number */
	size_t count;
	uint64_t waited_on_closed;
	struct driver_cpu_stats *totals; /* by number; the samples lost only of CPUs that went */
	size_t total_count;
	int epoll; /* -1: not open */
	bool sideband_on, samples_on;
};

/* What perf_cpuset_update() did. */
struct perf_cpuset_change {
	unsigned int came, went; /* CPUs */
};

/* Opens the events of all CPUs that are online, with the largest rings up to the plan's that the
 * kernel grants for all; 0 or -errno. Caller closes, also after a failure.
 */
int perf_cpuset_open(struct perf_cpuset *ret, struct perf_plan *plan,
		     const struct perf_targets *targets, struct error *err);
/* Closes all, also what a perf_cpuset_open() that failed left; one with only ->epoll set to -1 is
 * fine. */
void perf_cpuset_close(struct perf_cpuset *set);

/* Closes @old, whose totals @set goes on with; it has none of its own yet. */
void perf_cpuset_succeed(struct perf_cpuset *set, struct perf_cpuset *old);

/* Lets the events report changes, or not, on CPUs still to come as well; 0 or -errno. */
int perf_cpuset_enable_sideband(struct perf_cpuset *set, bool on);
/* Lets them sample, or not; likewise. */
int perf_cpuset_enable_samples(struct perf_cpuset *set, bool on);

/* Closes the events of CPUs that went, whatever is left in their rings, and opens those of CPUs
 * that came; of one that was away for a moment both. To be called seconds apart. */
void perf_cpuset_update(struct perf_cpuset *set, struct perf_cpuset_change *ret);

/* Takes what woke the poller off the descriptor. */
void perf_cpuset_clear_wakeups(struct perf_cpuset *set);
/* Whether more than half of any ring is in use, as of the last look. */
bool perf_cpuset_half_full(const struct perf_cpuset *set);

/* Asks all events how many samples they could not write. */
void perf_cpuset_read_lost(struct perf_cpuset *set);
/* Samples lost so far. */
uint64_t perf_cpuset_lost(const struct perf_cpuset *set);
/* What is counted of @cpu, kept beyond its going; but for samples lost, which are not the
 * caller's to count. Borrowed until the next call. */
struct driver_cpu_stats *perf_cpuset_totals(struct perf_cpuset *set, unsigned int cpu);
/* The same with the samples lost; all zero of one that was never there. */
void perf_cpuset_cpu_stats(const struct perf_cpuset *set, unsigned int cpu,
			   struct driver_cpu_stats *ret);
/* The CPU with that number, or NULL. */
struct perf_cpu *perf_cpuset_find(struct perf_cpuset *set, unsigned int cpu);
/* What each CPU cost up to @now_ns (driver_ops.costs) but for programs in the kernel. */
size_t perf_cpuset_costs(struct perf_cpuset *set, uint64_t now_ns, struct driver_cost *ret,
			 size_t room);
/* Nanoseconds, of all events together, that others had their counters; likewise. */
uint64_t perf_cpuset_waited_ns(const struct perf_cpuset *set);
