/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Populate: reads the sample files, image by image, and makes the rows of a report of them: one a
 * symbol and application, or, for the summary, one an image and application. Samples in no symbol
 * get rows of their own, so that the rows always add up to what was sampled.
 *
 *	struct populate_stats stats;
 *	populate_images(gather, &classes, &inverted, binaries, true, &container, &stats);
 */
#pragma once

#include "profile/rows/container.h"
#include "sfile/sfile.h"

#include <stdbool.h>

struct binaries;
struct classes;
struct gather;
struct by_image;

struct populate_config {
	bool symbols;		/* rows by symbol, else by image */
	bool merge_lib;		/* applications are not told apart */
	bool exclude_dependent; /* only samples in the application's own image */
	bool details;		/* with symbols: keep the samples of each row, see detail.h */
	bool code;		/* with symbols: their size and code; binaries are kept open */
	bool lines;		/* with symbols: find source lines, of the samples too if kept */
	bool inlines;		/* with symbols: inlined functions have rows, see inlined.h */
	/* Called before each image, NULL: not. */
	void (*step)(void *data, size_t done, size_t all);
	void *step_data;
};

struct populate_stats {
	size_t read;		    /* sample files read */
	size_t bad;		    /* that could not be; each was warned of */
	struct sfile_header header; /* of the first one read: CPU type and speed */
};

/* Fills @ret, an initialised container, from all files of @inv. @bs may be NULL for the summary. */
void populate_images(const struct gather *g, const struct classes *c, const struct by_image *inv,
		     struct binaries *bs, const struct populate_config *config,
		     struct container *ret, struct populate_stats *stats);
