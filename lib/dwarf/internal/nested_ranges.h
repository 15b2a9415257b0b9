/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the innermost of nested ranges of code at an address. The ranges are flattened, so that a
 * look-up is one binary search, and none at all for ascending addresses.
 *
 *	nested_ranges_add(&s, start, end, depth, value);
 *	nested_ranges_settle(&s);
 *	if (nested_ranges_find(&s, address, &value))
 *		...
 *	nested_ranges_done(&s);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nested_ranges_piece {
	uint64_t start, end;
	uint32_t depth, value;
};

/* The innermost range from here up to the next start. */
struct nested_ranges_start {
	uint64_t start;
	uint32_t value; /* UINT32_MAX: no range is here */
};

struct nested_ranges {
	struct nested_ranges_piece *pieces; /* before nested_ranges_settle() */
	size_t piece_count, piece_room;
	struct nested_ranges_start *starts; /* ascending */
	size_t count, room;
	size_t last; /* where the last look-up ended */
};

/* Adds the range from @start up to @end, unless it is empty. */
void nested_ranges_add(struct nested_ranges *s, uint64_t start, uint64_t end, uint32_t depth,
		       uint32_t value);
/* Flattens the ranges: at each address the deepest counts; of equally deep ones the one that starts
 * last, then the one that was added first. */
void nested_ranges_settle(struct nested_ranges *s);
/* The value of the innermost range at @address; false if there is none. */
bool nested_ranges_find(struct nested_ranges *s, uint64_t address, uint32_t *ret);
/* Memory in use, in bytes. */
size_t nested_ranges_bytes(const struct nested_ranges *s);
/* Frees everything. */
void nested_ranges_done(struct nested_ranges *s);
