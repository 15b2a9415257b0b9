/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translates an address in a process to an image and an offset, using the process's mappings. The
 * caller owns the structure and everything that it points to.
 *
 *	if (attribution_user_frame(&attribution, &record, record.ip, false, &frame))
 *		evbuf_sample(attribution.out, frame.cookie, frame.offset, counter, 1);
 */
#pragma once

#include "identity/cgroups.h"
#include "stream/evbuf.h"
#include "driver/perf/moved_text.h"
#include "driver/perf/sideband.h"
#include "driver/perf/trampolines.h"
#include "driver/perf/unwinder.h"

struct thread_names;

/* An address range that maps part of one image. */
struct attribution_range {
	uint64_t start, end;	 /* addresses; unused if equal */
	uint64_t cookie, offset; /* of ->start */
};

/* Ranges to cache: a chain passes through a handful of images. */
enum { ATTRIBUTION_RANGES = 8 };

/* Cache of the process and the mappings looked up last; valid until the process table changes. */
struct attribution_memo {
	uint64_t changes; /* the process table's ->changes at the lookup */
	uint32_t tgid;
	uint64_t app;
	bool unknown; /* no such process */
	bool kernel;  /* a kernel thread */
	struct attribution_range ranges[ATTRIBUTION_RANGES];
	unsigned int last, next; /* indices: found last, to be overwritten next */
};

struct attribution {
	struct sideband *sideband; /* borrowed, like all pointers here */
	struct evbuf *out;
	struct driver_stats *stats;
	struct cgroups *cgroups;    /* NULL: do not record cgroups */
	struct thread_names *names; /* NULL: do not record the names of threads */
	uint64_t now_ns;	    /* time at which records are processed */
	uint64_t weight;	    /* how many samples each one counts as; 0: 1 */
	struct attribution_memo memo;
	struct moved_text moved;    /* the owner calls moved_text_done() */
	struct evbuf_frame *frames; /* room for ->depth; NULL: no chains */
	size_t depth;
	/* If samples contain stack copies: unwinds them into ->pcs, which has room for ->depth
	 * addresses. NULL: samples contain chains, in which ->trampolines finds signal handlers. */
	struct unwinder *unwinder;
	uint64_t *pcs;
	struct trampolines *trampolines;
};

/* Translates the address @pc in the process of @r. With @is_caller it is a return address, which
 * belongs to the call instruction before it and may be any word from a stack; the process is then
 * taken from ->memo, without a lookup. Returns false if @pc is in no known mapping. */
bool attribution_user_frame(struct attribution *a, const struct perf_record *r, uint64_t pc,
			    bool is_caller, struct evbuf_frame *ret);

/* Looks whether moved text is still where it was; at each sync. */
void attribution_check_moved(struct attribution *a);

/* Fills ->memo for the process of @r. */
void attribution_process(struct attribution *a, const struct perf_record *r);
