/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the entries of a BPF hash map, many with one system call. Entries that come or go meanwhile
 * may be missed; the others are not. The caller has the arrays.
 *
 *	struct map_reader reader = { .map = fd };
 *	while ((count = map_reader_next(&reader, keys, values, 1024)))
 *		...
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct map_reader {
	int map;
	uint32_t place;	   /* the kernel's, where the next call goes on */
	bool begun, ended; /* the map was read from its start, to its end */
};

/* Reads up to @room entries, which must be some dozens. Returns their number; 0 at the end. */
uint32_t map_reader_next(struct map_reader *r, void *keys, void *values, uint32_t room);
