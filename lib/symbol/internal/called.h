/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where functions must start, because code calls them. In a stripped file without call frame
 * information nothing else separates a function whose symbol has no size from the next one.
 *
 *	struct called_range range = { .start = symbol, .end = next_symbol };
 *	called_cut(ef, &range, 1);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct elffile;

struct called_range {
	uint64_t start, end; /* linked addresses */
	size_t symbol;	     /* the caller's, ignored */
};

/* Lowers the ends of @ranges, which are sorted by start, to the first address after the start of
 * each that code outside of it calls directly. On x86-64 and AArch64; elsewhere does nothing. */
void called_cut(const struct elffile *ef, struct called_range *ranges, size_t count);
