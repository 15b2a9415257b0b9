/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a sample's PC to the event buffer: which process, which of its mappings, which offset in
 * what is mapped there. A sample that cannot be placed is counted under the reason. Where chains
 * are taken, its callers follow it as far as they are known.
 *
 *	attribution_sample(&attribution, cpu, counter, &record);
 */
#pragma once

#include "identity/cgroups.h"
#include "stream/evbuf.h"
#include "driver/perf/sideband.h"
#include "driver/perf/unwinder.h"

/* Addresses that count from one place in one image. */
struct attribution_range {
	uint64_t start, end;	 /* addresses; equal: none */
	uint64_t cookie, offset; /* of start */
};

/* Ranges remembered: a chain goes through a handful of images. */
enum { ATTRIBUTION_RANGES = 8 };

/* The process and those of its mappings that were looked up last, as long as nothing changes. */
struct attribution_memo {
	uint64_t changes; /* of the process table when it was looked up */
	uint32_t tgid;
	uint64_t app;
	bool unknown; /* there is no such process (for kernel samples: no application) */
	bool kernel;  /* it is a kernel thread */
	struct attribution_range ranges[ATTRIBUTION_RANGES];
	unsigned int last, next; /* found last; to be overwritten next */
};

struct attribution {
	struct sideband *sideband; /* borrowed, as is the rest */
	struct evbuf *out;
	struct driver_stats *stats;
	struct cgroups *cgroups; /* NULL: samples do not carry theirs */
	uint64_t now_ns;	 /* time of handling */
	uint64_t weight;	 /* what each sample stands for; 0: 1 */
	struct attribution_memo memo;
	struct evbuf_frame *frames; /* room for @depth of them, the caller's; NULL: no chains */
	size_t depth;
	/* Where samples carry copies of stacks: unwinds them, and room for @depth addresses; the
	 * caller's. NULL: samples carry whole chains. */
	struct unwinder *unwinder;
	uint64_t *pcs;
};

/* Where the address @pc of the process that @r is about lies, into *@ret; with @is_caller it is a
 * return address, which belongs to the call before it and may be anything. False if it is in no
 * mapping that is known (then the process is not even looked up for a caller). */
bool attribution_user_frame(struct attribution *a, const struct perf_record *r, uint64_t pc,
			    bool is_caller, struct evbuf_frame *ret);

/* Whose a sample is and where, its frames in attribution.frames. */
struct attribution_found {
	struct evbuf_context context;
	size_t count; /* of frames, at least 1 */
	enum chain_end end;
};

/* Looks the sample @r up, with its callers up to ->depth; ->frames has room for one at least. False
 * if it cannot be placed, which is counted. */
bool attribution_find(struct attribution *a, unsigned int cpu, const struct perf_record *r,
		      struct attribution_found *ret);

/* Puts the sample @r of event @counter into the event buffer. */
void attribution_sample(struct attribution *a, unsigned int cpu, unsigned int counter,
			const struct perf_record *r);

/* Puts the code of an extended feature where the sample @r is, with @count words of which the first
 * becomes its offset; false if it cannot be placed. */
bool attribution_words(struct attribution *a, unsigned int cpu, const struct perf_record *r,
		       enum evbuf_code code, uint64_t *words, size_t count);

/* Whether the sample is of a process that nobody asked for. */
bool attribution_filtered(const struct attribution *a, const struct perf_record *r);
