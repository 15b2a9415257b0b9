/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes AMD's instruction-based samples to the event buffer: decodes the registers in a perf
 * record (perf/ibs_raw.h) and looks up the sample's place. The caller embeds the structure, which
 * owns nothing.
 *
 *	struct perf_ibs ibs = { .cpu = ibs_cpu_read(root), .terms[IBS_OP] = terms };
 *	perf_ibs_put(&ibs, &attribution, cpu, IBS_OP, &record);
 */
#pragma once

#include "driver/driver.h"
#include "driver/perf/attribution.h"
#include "perf/ibs_raw.h"

struct perf_ibs {
	struct ibs_cpu cpu;			   /* whose errata are corrected */
	struct event_terms terms[IBS_KIND_COUNT_]; /* which samples to take */
};

/* Writes the sample @r of @cpu to the event buffer of @a. Leaves out samples of processes that are
 * not profiled, and of the kernel or user space if ->terms exclude them. Counts the sample
 * as ibs_lost if the processor marked it invalid, or if it cannot be looked up. */
void perf_ibs_put(const struct perf_ibs *ibs, struct attribution *a, unsigned int cpu,
		  enum ibs_kind kind, const struct perf_record *r);
