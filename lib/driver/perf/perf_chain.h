/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The callers of a sample. Those in the kernel are in the call chain that the kernel took with it.
 * Those in user space are too, by frame pointers, or they are found by unwind tables in the copy of
 * the stack that the sample carries. Each frame is looked up in the mappings of the moment, as the
 * sample itself is.
 *
 *	a->frames[0] = (struct evbuf_frame){ cookie, offset };
 *	count = perf_chain_callers(a, record, &end);
 *	evbuf_chain(a->out, a->frames, count, &(struct evbuf_trace){ counter, 1, end });
 */
#pragma once

#include "driver/perf/attribution.h"

/* Writes the callers of a->frames[0], which is the sample @r itself, behind it; returns the number
 * of frames with it, at least 1 and at most a->depth, and why there are no more in *@ret. */
size_t perf_chain_callers(struct attribution *a, const struct perf_record *r, enum chain_end *ret);

/* What the event buffer says of an unwinding that ended for the reason @stop in the image
 * @cookie. */
enum chain_end perf_chain_end_of(const struct cookie_table *cookies, enum chain_end stop,
				 uint64_t cookie);
