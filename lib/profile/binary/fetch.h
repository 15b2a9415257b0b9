/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fetches from debuginfod servers what a report lacks: debug information of the images that weigh
 * enough, and the binaries themselves where this machine does not have them.
 *
 *	struct fetched *f = fetch_images(gather, binaries, 1.0, &progress, &err);
 *	binaries_use_fetched(binaries, f);
 *	...
 *	fetched_free(f);				after the binaries
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

#include <stddef.h>
#include <stdint.h>

struct binaries;
struct debuginfod_progress;
struct fetched;
struct gather;

/* Fetches for the images of @g with at least @percent of the samples, and a build-id, what @bs does
 * not find. Always returns something, the caller's to free; what went wrong as a whole is in @err,
 * whose code is 0 where nothing did. What no server has is told in the debug log. */
struct fetched *fetch_images(const struct gather *g, struct binaries *bs, double percent,
			     const struct debuginfod_progress *progress, struct error *err);
/* NULL is fine. */
void fetched_free(struct fetched *f);
DEFINE_CLEANUP(struct fetched *, fetched_free);

/* Where the debug information, or the binary itself, of image number @image was put; NULL if it was
 * not fetched. Borrowed; NULL for @f is fine. */
const char *fetched_debug(const struct fetched *f, uint32_t image);
const char *fetched_binary(const struct fetched *f, uint32_t image);
