/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the callers of a sample. Kernel callers come from the call chain that the kernel recorded
 * with the sample. User callers come from the same chain, found by frame pointers, or from the
 * sample's stack copy, by unwind tables. Each frame is translated using the mappings at that time,
 * like the sample itself. The caller owns the attribution, into whose frames the result is written.
 *
 *	a->frames[0] = (struct evbuf_frame){ cookie, offset };
 *	count = perf_chain_callers(a, record, &end);
 *	evbuf_chain(a->out, a->frames, count, &(struct evbuf_trace){ counter, 1, end });
 */
#pragma once

#include "driver/perf/attribution.h"

/* Writes the callers of the sample @r to a->frames after a->frames[0], which is the sample itself.
 * Returns the number of frames including it, from 1 to a->depth, and why the chain ends in
 * *@ret. */
size_t perf_chain_callers(struct attribution *a, const struct perf_record *r, enum chain_end *ret);

/* The reason to write to the event buffer for an unwinding that ended with @stop in the image
 * @cookie. */
enum chain_end perf_chain_end_of(const struct cookie_table *cookies, enum chain_end stop,
				 uint64_t cookie);
