/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a sample's PC to the event buffer: which process, which of its mappings, which offset in
 *what is mapped there. A sample that cannot be placed is counted under the reason.
 *
 *	attribution_sample(&attribution, cpu, counter, &record);
 */
#pragma once

#include "driver/evbuf.h"
#include "driver/sideband.h"

/* The mapping that was looked up last, as long as nothing changes. */
struct attribution_memo {
	uint64_t changes; /* of the process table when it was looked up */
	uint32_t tgid;
	uint64_t app;
	bool unknown;		 /* there is no such process (for kernel samples: no application) */
	uint64_t start, end;	 /* addresses; equal: none yet */
	uint64_t cookie, offset; /* of start */
};

struct attribution {
	struct sideband *sideband; /* borrowed, as is the rest */
	struct evbuf *out;
	struct driver_stats *stats;
	uint64_t now_ns; /* time of handling */
	struct attribution_memo memo;
};

/* Puts the sample @r of event @counter into the event buffer. */
void attribution_sample(struct attribution *a, unsigned int cpu, unsigned int counter,
			const struct perf_record *r);
