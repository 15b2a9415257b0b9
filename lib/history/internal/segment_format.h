/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A segment on disk (man ophistory.5): a header, then blocks that are compressed one by one. All in
 * the byte order of the machine; one of the other order does not know the magic.
 */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SEGMENT_MAGIC = 0x3147534f, /* "OSG1" */
	SEGMENT_ZSTD_LEVEL = 3,
	SEGMENT_ZSTD_SMALL = 19, /* of what is kept for long */
	/* Then its tables have 2 to the power of that entries. By default they take 75 MB more. */
	SEGMENT_ZSTD_TABLES = 20,
	SEGMENT_BLOCK_MAX = 64 << 20,
};

struct segment_block {
	uint64_t offset;
	uint32_t stored, size; /* bytes, compressed and not */
	uint32_t crc;	       /* of the bytes as stored */
	uint32_t unused;       /* 0 */
};
static_assert(sizeof(struct segment_block) == 24, "as on disk");

enum segment_block_kind {
	SEGMENT_LINES,	/* text, a line for each name */
	SEGMENT_PLACES, /* distances of lines; keys, minus the one before if of the same line */
	SEGMENT_NODES,	/* depth-first: levels gone up; then places, as zigzag distances */
	SEGMENT_TOTALS, /* the count of each node */
	SEGMENT_INDEX,	/* struct segment_entry for each slice */
	SEGMENT_BLOCK_COUNT_
};

struct segment_header {
	uint32_t magic;
	uint32_t crc; /* of what follows in the header */
	uint32_t level, slices;
	uint32_t first, last; /* generations */
	uint32_t lines, places, nodes;
	uint32_t columns; /* nodes of this rank have columns (segment_columns.h); 0: none have */
	int64_t begin_ms, end_ms;
	uint64_t samples, counts; /* sums of the slices' samples, and of the totals */
	struct segment_block blocks[SEGMENT_BLOCK_COUNT_];
};
static_assert(sizeof(struct segment_header) == 40 + 32 + 5 * 24, "as on disk");

struct segment_entry {
	int64_t begin_ms, end_ms;
	uint64_t samples, taken, lost, cpu_ms, covered_ms;
	uint32_t generation, counts; /* number of nodes with counts */
	struct segment_block block;  /* columns; distances of the other nodes' numbers, counts */
};
static_assert(sizeof(struct segment_entry) == 88, "as on disk");
