/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/radix.h"

#include <string.h>

/* DIGIT_BITS per pass; for fewer than SMALL entries comparing is cheaper. */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, SMALL = 48 };

static void insertion_sort(struct radix_entry *entries, size_t count)
{
	size_t i, j;

	for (i = 1; i < count; i++) {
		struct radix_entry entry = entries[i];

		for (j = i; j && entries[j - 1].key > entry.key; j--)
			entries[j] = entries[j - 1];
		entries[j] = entry;
	}
}

/* One stable pass over the digit at @shift. */
static void pass(const struct radix_entry *from, struct radix_entry *to, size_t count,
		 unsigned int shift)
{
	size_t starts[DIGITS] = { 0 }, i, sum = 0;

	for (i = 0; i < count; i++)
		starts[from[i].key >> shift & (DIGITS - 1)]++;
	for (i = 0; i < DIGITS; i++) {
		size_t n = starts[i];

		starts[i] = sum;
		sum += n;
	}
	for (i = 0; i < count; i++)
		to[starts[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

void radix_sort(struct radix_entry *entries, struct radix_entry *spare, size_t count)
{
	struct radix_entry *from = entries, *to = spare, *swap;
	uint64_t differ = 0;
	unsigned int shift;
	size_t i;

	if (count <= SMALL) {
		insertion_sort(entries, count);
		return;
	}
	for (i = 1; i < count; i++)
		differ |= entries[i].key ^ entries[0].key;
	for (shift = 0; shift < 64 && differ >> shift; shift += DIGIT_BITS) {
		if (!(differ >> shift & (DIGITS - 1)))
			continue;
		pass(from, to, count, shift);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != entries)
		memcpy(entries, from, count * sizeof(*entries));
}
