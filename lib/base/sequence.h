/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What two sequences have in common, such as the lines of two versions of a file: the longest
 * sequence that both contain, in order (Myers 1986, "An O(ND) difference algorithm").
 *
 *	uint32_t *partners = sequence_match((struct sequence){ a, n }, (struct sequence){ b, m });
 *	if (partners[i] != SEQUENCE_NONE)
 *		...a[i] is b[partners[i]]
 *	free(partners);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SEQUENCE_NONE UINT32_MAX

/* Elements that are equal have equal numbers. Borrowed. */
struct sequence {
	const uint64_t *elements;
	size_t count;
};

/* For each element of @a, the index of the same one in @b, or SEQUENCE_NONE if it is not there. Of
 * sequences that differ in thousands of places only what they begin and end with is matched. Caller
 * frees. */
uint32_t *sequence_match(struct sequence a, struct sequence b);
