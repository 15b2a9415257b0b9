/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks up an address of a process: which of its mappings it is in, of which image, at which
 * offset. Everything that the structure points to belongs to the caller.
 *
 *	if (attribution_user_frame(&attribution, &record, record.ip, false, &frame))
 *		evbuf_sample(attribution.out, frame.cookie, frame.offset, counter, 1);
 */
#pragma once

#include "identity/cgroups.h"
#include "stream/evbuf.h"
#include "driver/perf/sideband.h"
#include "driver/perf/unwinder.h"

/* Addresses that are a part of one image. */
struct attribution_range {
	uint64_t start, end;	 /* addresses; equal: none */
	uint64_t cookie, offset; /* of start */
};

/* Ranges to remember: a chain goes through a handful of images. */
enum { ATTRIBUTION_RANGES = 8 };

/* The process and the mappings that were looked up last; valid as long as nothing changes. */
struct attribution_memo {
	uint64_t changes; /* the process table's ->changes at the lookup */
	uint32_t tgid;
	uint64_t app;
	bool unknown; /* there is no such process */
	bool kernel;  /* it is a kernel thread */
	struct attribution_range ranges[ATTRIBUTION_RANGES];
	unsigned int last, next; /* the one found last; the one to overwrite next */
};

struct attribution {
	struct sideband *sideband; /* borrowed, as is the rest */
	struct evbuf *out;
	struct driver_stats *stats;
	struct cgroups *cgroups; /* NULL: samples have none */
	uint64_t now_ns;	 /* time of handling */
	uint64_t weight;	 /* how many samples each one stands for; 0: 1 */
	struct attribution_memo memo;
	struct evbuf_frame *frames; /* room for @depth; NULL: no chains */
	size_t depth;
	/* If samples contain copies of stacks: unwinds them, and room for @depth addresses. NULL:
	 * samples contain chains. */
	struct unwinder *unwinder;
	uint64_t *pcs;
};

/* Finds the address @pc of the process of @r. @is_caller: it is a return address, which belongs to
 * the call before it, and may be any word from a stack. False if it is in no known mapping; for a
 * caller the process is not even looked up. */
bool attribution_user_frame(struct attribution *a, const struct perf_record *r, uint64_t pc,
			    bool is_caller, struct evbuf_frame *ret);

/* Makes ->memo that of the process of @r. */
void attribution_process(struct attribution *a, const struct perf_record *r);
