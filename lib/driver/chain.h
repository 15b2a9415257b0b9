/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The callers of a sample by the call chain that the kernel took with it: frame pointers in user
 * space, whatever the kernel unwinds itself by in the kernel. Each frame is looked up in the
 * mappings of the moment, as the sample itself is.
 *
 *	a->frames[0] = leaf;
 *	count = chain_callers(a, record, &end);
 *	evbuf_chain(a->out, a->frames, count, &(struct evbuf_trace){ counter, 1, end });
 */
#pragma once

#include "driver/attribution.h"

/* Writes the callers of a->frames[0], which is the sample @r itself, behind it; returns the number
 * of frames with it, at least 1 and at most a->depth, and why there are no more in *@ret. */
size_t chain_callers(struct attribution *a, const struct perf_record *r, enum evbuf_end *ret);
