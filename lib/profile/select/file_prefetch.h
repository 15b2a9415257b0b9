/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sample files opened ahead of their use, by all CPUs: most of a system's are small, and opening
 * them is most of what a report costs.
 *
 *	struct file_prefetch p = { .gather = g, .order = files, .count = file_count };
 *	for (i = 0; i < p.count; i++)
 *		if (file_prefetch_take(&p, i, &sf, &err) == 0)
 *			...
 *	file_prefetch_done(&p);
 */
#pragma once

#include "base/error.h"
#include "sfile/sfile.h"

struct gather;

struct file_prefetch {
	const struct gather *gather; /* borrowed, as is ->order */
	const uint32_t *order;	     /* indexes of files, as they will be taken */
	size_t count;
	struct prefetched *files; /* those from ->first on; NULL at first */
	size_t first, ready;
};

/* Hands over file number @i of the order, opened, to be closed by the caller; as sfile_open(). Each
 * is taken once at most, in rising order; some may be left out. */
int file_prefetch_take(struct file_prefetch *p, size_t i, struct sfile **ret, struct error *err);
/* Closes what was not taken. */
void file_prefetch_done(struct file_prefetch *p);
