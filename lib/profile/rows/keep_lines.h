/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the source lines of sampled functions next to the functions that were kept of their files
 * (symbol/function_store.h), with hashes of their texts, so that they can be shown when the files
 * are gone. Only of files that are there, with debug information.
 *
 *	struct keep_limits limits = { .time_ns = 1000000000, .file_bytes = 256 << 20 };
 *	keep_lines(gather, by_image, binaries, &limits);
 */
#pragma once

#include <stddef.h>

struct binaries;
struct by_image;
struct gather;
struct keep_limits;

/* Keeps lines of the images with the most samples first. Returns of how many. All is borrowed. */
size_t keep_lines(const struct gather *g, const struct by_image *by_image, struct binaries *bs,
		  const struct keep_limits *limits);
