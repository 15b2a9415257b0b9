/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorting by a number, in time that grows with the count alone: for lists that are too long for
 * comparisons.
 *
 *	struct radix_entry *entries = xcalloc(n, sizeof(*entries)), *spare = likewise;
 *	radix_sort(entries, spare, n);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct radix_entry {
	uint64_t key;
	uint64_t value; /* the caller's: an index, a count */
};

/* Sorts @count entries by key, those with equal keys in the order they had. @spare is room for as
 * many, whose content does not matter before nor after. */
void radix_sort(struct radix_entry *entries, struct radix_entry *spare, size_t count);
