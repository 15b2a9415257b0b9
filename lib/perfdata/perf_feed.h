/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replays the records of a perf.data: processes fork, execute and map files as they did, so that
 * each sample becomes an image and an offset in the event buffer. What cannot be placed is counted.
 *
 *	struct driver_stats stats = { 0 };
 *	struct perf_feed_config config = { .file = f, .cookies = cookies };
 *	config.out = out;
 *	config.stats = &stats;
 *	perf_feed(&config);
 *	evbuf_flush(out);
 */
#pragma once

#include "stats/counters.h"

#include <stdbool.h>

struct cookie_table;
struct evbuf;
struct perf_file;

/* All pointers are borrowed for the call. */
struct perf_feed_config {
	const struct perf_file *file;
	struct cookie_table *cookies;
	const char *cache;	    /* perf's cache of files, "/root/.debug"; NULL: none */
	bool is_own_vdso;	    /* the vdso of that machine is the one of this */
	struct evbuf *out;	    /* counters are numbered like the file's events */
	struct driver_stats *stats; /* what was received, lost and not understood is added */
};

/* Writes all samples to the event buffer. */
void perf_feed(const struct perf_feed_config *config);
