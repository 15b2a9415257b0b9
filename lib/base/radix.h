/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Radix sort by a 64-bit key, in linear time: for lists that are too long for a sort by comparison.
 *
 *	struct radix_entry *entries = xcalloc(2 * n, sizeof(*entries));
 *	radix_sort(entries, entries + n, n);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct radix_entry {
	uint64_t key;
	uint64_t value; /* the caller's: an index, a count */
};

/* Sorts @count entries by key; entries with equal keys keep their order. @spare is scratch room for
 * as many. */
void radix_sort(struct radix_entry *entries, struct radix_entry *spare, size_t count);
