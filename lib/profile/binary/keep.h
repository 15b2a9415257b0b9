/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores the symbols of a profile's images in the symbol cache, so that later reports still have
 * them when the files were overwritten or removed. Binaries and gather are borrowed.
 *
 *	struct keep_limits limits = { .time_ns = 1000000000, .file_bytes = 256 << 20 };
 *	keep_symbols(gather, binaries, &limits);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct binaries;
struct binary;
struct gather;

struct keep_limits {
	uint64_t time_ns;    /* no further file is read after this time */
	uint64_t file_bytes; /* larger files are not read */
	uid_t owner;	     /* root reads only its own files, and those of this user */
};

/* Opens the files with a build-id, those with the most samples first, and calls @take with each. */
void keep_images(const struct gather *g, struct binaries *bs, const struct keep_limits *limits,
		 void (*take)(uint32_t image, const struct binary *b, void *data), void *data);
/* Reads the files with a build-id, those with the most samples first, and stores what the cache of
 * @bs lacks. Returns how many files it read or found in the cache. */
size_t keep_symbols(const struct gather *g, struct binaries *bs, const struct keep_limits *limits);
