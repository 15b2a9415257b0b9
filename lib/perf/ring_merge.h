/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU buffers of all CPUs read in the order that attribution needs: records that change the
 * process table strictly by time, and each sample after all of those that are older than it and
 * before all that are younger. Between two such records the samples are taken CPU by CPU, which
 * spares context changes in the event buffer.
 *
 *	ring_merge_run(cpus, n, now_ns - 2000000, &handler);
 */
#pragma once

#include "perf/perf_record.h"
#include "perf/ring.h"

/* The two rings of a CPU, borrowed; the rest is merge's. */
struct ring_merge_cpu {
	struct ring *samples, *sideband;   /* NULL: none */
	struct perf_record sample, change; /* the next of each */
	bool have_sample, have_change;
};

struct ring_merge_handler {
	/* A record of the sample ring of cpus[@i]: samples, and what the kernel says of them. */
	void (*sample)(size_t i, const struct perf_record *record, void *data);
	/* A record of its sideband ring. */
	void (*change)(size_t i, const struct perf_record *record, void *data);
	void *data;
};

/* Handles all records up to @until_ns, a time not long past, that are in the rings now, and frees
 * their room. A record whose time is more than ten seconds after that is handled as of @until_ns.
 * Returns how many records, or whole stretches of a ring, could not be parsed and were skipped. */
size_t ring_merge_run(struct ring_merge_cpu *cpus, size_t count, uint64_t until_ns,
		      const struct ring_merge_handler *handler);
