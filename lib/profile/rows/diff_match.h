/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds which image and which row of one profile correspond to which of another. diff.h describes
 * the rules.
 *
 *	struct diff_side first = { gather, binaries, &classes, &container }, second = ...;
 *	uint32_t *images = diff_match_images(first.gather, second.gather, NULL);
 *	uint32_t *rows = diff_match_rows(&first, &second, images);
 *	...row i of first.container is row rows[i] of second.container, or is not there
 *	free(rows);
 *	free(images);
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct binaries;
struct classes;
struct container;
struct gather;

/* One of two profiles that are compared; all parts are borrowed. */
struct diff_side {
	struct gather *gather;
	struct binaries *binaries; /* to look up source lines if names are ambiguous */
	const struct classes *classes;
	struct container *container;
};

/* By image of each side: whether it has samples in what is compared. */
struct diff_images {
	const bool *first, *second;
};

/* The image of @second for each image of @first. Images that @second lacks are added to it; they
 * borrow their names from @first. Those that have samples correspond to each other; @sampled is
 * NULL if all have some. Caller frees. */
uint32_t *diff_match_images(const struct gather *first, struct gather *second,
			    const struct diff_images *sampled);

/* The row of @second for each row of @first, or GATHER_NONE; @images is what diff_match_images()
 * returned. Caller frees. */
uint32_t *diff_match_rows(const struct diff_side *first, const struct diff_side *second,
			  const uint32_t *images);
