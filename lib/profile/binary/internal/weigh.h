/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many samples each image of a gather has.
 *
 *	uint64_t total;
 *	struct weight *weights = weigh_images(gather, &total);
 *	printf("%g %%\n", 100.0 * (double)weights[image].samples / (double)total);
 *	free(weights);
 */
#pragma once

#include "sfile/sfile.h"

#include <stdint.h>

struct gather;

/* An image's samples, and the header of one of its files. */
struct weight {
	uint64_t samples;
	struct sfile_header header;
};

/* Sums all sample files by image; caller frees. Files that cannot be read count nothing, without a
 * warning: reports warn about them. */
struct weight *weigh_images(const struct gather *g, uint64_t *ret_total);
