/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens sample files ahead of their use, on all CPUs. Most sample files of a system are small, and
 * opening them takes most of the time of a report.
 *
 *	struct file_prefetch p = { .gather = g, .order = files, .count = file_count };
 *	for (i = 0; i < p.count; i++)
 *		if (file_prefetch_take(&p, i, &counts, &err) == 0)
 *			...
 *	file_prefetch_done(&p);
 */
#pragma once

#include "base/error.h"
#include "profile/select/file_counts.h"

struct gather;

struct file_prefetch {
	const struct gather *gather; /* borrowed, as is ->order */
	const uint32_t *order; /* indexes of files, in the order in which they will be taken */
	size_t count;
	struct prefetched *files; /* those from ->first on; NULL at first */
	size_t first, ready;
};

/* Opens file number @i of the order, as file_counts_open(); the caller closes it. Files are
 * taken in ascending order, each at most once. */
int file_prefetch_take(struct file_prefetch *p, size_t i, struct file_counts **ret,
		       struct error *err);
/* Closes the files that were not taken. */
void file_prefetch_done(struct file_prefetch *p);
