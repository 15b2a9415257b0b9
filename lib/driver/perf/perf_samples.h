/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the samples of perf's records to the event buffer: looks up process, mapping and offset
 * (attribution.h) and, if requested, the callers (perf_chain.h). Samples that cannot be looked up
 * are counted by reason. The caller owns everything passed in.
 *
 *	perf_samples_put(&attribution, cpu, counter, &record);
 */
#pragma once

#include "driver/perf/attribution.h"

/* The place of a sample; its frames are in attribution.frames. */
struct perf_samples_found {
	struct evbuf_context context;
	size_t count; /* of frames, at least 1 */
	enum chain_end end;
	bool waits; /* something is incomplete: look again later (unwinder_waits(), sideband) */
};

/* Looks up the sample @r with its callers, up to ->depth frames; ->frames has room for at least
 * one. Returns false, and counts the sample, if it cannot be looked up. */
bool perf_samples_find(struct attribution *a, unsigned int cpu, const struct perf_record *r,
		       struct perf_samples_found *ret);

/* Writes the sample @r of event @counter to the event buffer; returns false, having done nothing,
 * if it waits for its chain (unwinder_waits()) or its process (sideband_process()). */
bool perf_samples_put(struct attribution *a, unsigned int cpu, unsigned int counter,
		      const struct perf_record *r);

/* Writes @code of an extended feature to the event buffer with @count @words, at the place of the
 * sample @r; sets the first word to the place's offset. Returns false if the sample cannot be
 * looked up. */
bool perf_samples_put_words(struct attribution *a, unsigned int cpu, const struct perf_record *r,
			    enum evbuf_code code, uint64_t *words, size_t count);

/* Whether the sample is from a process that is not being profiled. */
bool perf_samples_are_filtered(const struct attribution *a, const struct perf_record *r);
