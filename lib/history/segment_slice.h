/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A slice of a segment (history/segment.h), and its counts, which belong to whoever returns them.
 *
 *	struct segment_counts found = { 0 };
 *	for (i = 0; i < found.count; i++)
 *		total += found.counts[i];
 */
#pragma once

#include "history/slice_file.h"

#include <stddef.h>
#include <stdint.h>

struct segment_slice {
	struct slice slice;
	uint64_t covered_ms; /* of its span: it may have gaps */
	uint32_t generation;
	size_t counts;	/* nodes with counts */
	uint32_t bytes; /* that it takes in the file */
};

/* Counts of nodes, which are numbered from 1 on. */
struct segment_counts {
	const uint32_t *nodes; /* ascending, unless the segment was made in memory */
	const uint64_t *counts;
	size_t count;
};
