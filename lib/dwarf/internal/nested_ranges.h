/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of many pieces of code that lie in one another is the innermost at an address: the pieces
 * laid flat, so that a look-up is one search, and none where one asks in the order of addresses.
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

/* Code from here up to the start of the next one. */
struct nested_ranges_start {
	uint64_t start;
	uint32_t value; /* UINT32_MAX: no piece is here */
};

struct nested_ranges {
	struct nested_ranges_piece *pieces; /* until they are settled */
	size_t piece_count, piece_room;
	struct nested_ranges_start *starts; /* ascending */
	size_t count, room;
	size_t last; /* what the last answer came from */
};

/* Adds code from @start up to @end; nothing if that is empty. */
void nested_ranges_add(struct nested_ranges *s, uint64_t start, uint64_t end, uint32_t depth,
		       uint32_t value);
/* Lays them flat: at each address the deepest counts, of several the one that starts last, then the
 * one that was added first. */
void nested_ranges_settle(struct nested_ranges *s);
/* The value of the piece at @address; false where there is none. */
bool nested_ranges_find(struct nested_ranges *s, uint64_t address, uint32_t *ret);
/* The memory that they take, in bytes. */
size_t nested_ranges_bytes(const struct nested_ranges *s);
/* Frees all. */
void nested_ranges_done(struct nested_ranges *s);
