/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nodes of a segment that have counts in many of its slices. A slice has the counts of all of
 * these, also those that are 0, without their numbers. They are in the order of their totals, so
 * that numbers of about the same size are next to each other, which zstd makes much smaller.
 *
 *	segment_columns_init(&c, totals, nodes, segment_columns_least(slices));
 *	for (i = 0; i < c.count; i++)
 *		printf("node %" PRIu32 "\n", c.order[i]);
 *	segment_columns_done(&c);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice_numbers;

struct segment_columns {
	uint32_t *order;  /* numbers of the nodes, the largest totals first */
	uint32_t *sorted; /* the same, ascending */
	size_t count;
	/* Where each of ->order is in ->sorted; and the values of a slice, in the order of the
	 * latter: next to each other, they stay in the cache, although they are read in another
	 * order. */
	uint32_t *places;
	uint64_t *values;
};

/* The rank of a total: four for each power of two, so about its logarithm. 0 only for 0. */
static inline unsigned int segment_columns_rank(uint64_t total)
{
	unsigned int power = total ? 63 - (unsigned int)__builtin_clzll(total) : 0;

	return power < 2 ? (unsigned int)total
			 : 4 * (power - 1) + (unsigned int)(total >> (power - 2) & 3);
}

/* The least rank that pays if there are @slices: a count in every fourth. Never 0. */
unsigned int segment_columns_least(size_t slices);

/* Finds the nodes of the rank @least or a higher one; none if it is 0. @totals are those of the
 * nodes 1 to @nodes. The caller calls segment_columns_done(). */
void segment_columns_init(struct segment_columns *c, const uint64_t *totals, size_t nodes,
			  unsigned int least);
void segment_columns_done(struct segment_columns *c);

/* A list of nodes with counts. */
struct segment_list {
	uint32_t *ids;
	uint64_t *counts;
	size_t count;
};

/* Reads a slice: the counts of these nodes, then @list->count nodes, less those of these that have
 * a count, each as its number minus the one before, then their counts. @list gets all of them,
 * ascending; it has room for one more. False if it is damaged, or has a number above @nodes. */
bool segment_columns_read(struct segment_columns *c, struct slice_numbers n, size_t nodes,
			  struct segment_list *list);
