/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the CPU buffers of all CPUs in the order that attribution needs: records that change the
 * process table in order of time, and each sample after all older changes and before all newer
 * ones. Between two changes the samples are read CPU by CPU, which saves context
 * switches in the event buffer.
 *
 *	ring_merge_run(cpus, n, now_ns - 2000000, &handler);
 */
#pragma once

#include "perf/perf_record.h"
#include "perf/ring.h"

/* The two rings of a CPU, borrowed; the other fields are private. */
struct ring_merge_cpu {
	struct ring *samples, *sideband;   /* NULL: none */
	struct perf_record sample, change; /* the next of each */
	bool have_sample, have_change;
};

struct ring_merge_handler {
	/* A record of the sample ring of cpus[@i]: samples, and the kernel's records about them. */
	void (*sample)(size_t i, const struct perf_record *record, void *data);
	/* A record of its sideband ring. */
	void (*change)(size_t i, const struct perf_record *record, void *data);
	void *data;
	/* NULL, or set by ->sample if it cannot take the record yet: it stays, and the run ends. */
	bool *held;
	/* The run ends at this time (CLOCK_MONOTONIC), but takes some records in any case; 0: when
	 * it is done with all. */
	uint64_t end_ns;
	/* Set if the run ended for the time; needed with ->end_ns. */
	bool *is_cut;
};

/* Handles all records up to @until_ns, a time shortly before now, that are in the rings, and frees
 * their space. What a run leaves is handled by the next one, in the same order. A record whose time
 * is more than ten seconds after that is handled as of @until_ns.
 * Returns how many records, or whole stretches of a ring, could not be parsed and were skipped. */
size_t ring_merge_run(struct ring_merge_cpu *cpus, size_t count, uint64_t until_ns,
		      const struct ring_merge_handler *handler);
