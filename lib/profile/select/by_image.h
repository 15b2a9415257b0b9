/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups the sample files of a report by the image that their samples are in, so that each image is
 * opened once, however many applications use it.
 *
 *	struct by_image inv;
 *	by_image_group(gather, &classes, &inv);
 *	for (i = 0; i < inv.image_count; i++)
 *		...inv.images[i].count files from inv.files[inv.images[i].first] on
 *	by_image_done(&inv);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct classes;
struct gather;

struct by_image_files {
	uint32_t image;	     /* index in the gather */
	size_t first, count; /* its part of ->files */
};

struct by_image {
	uint32_t *files; /* indexes in the gather: by image, then application, then class */
	size_t file_count;
	struct by_image_files *images;
	size_t image_count;
};

/* Sorts the flat sample files of @g; call graph files are left out. Caller calls by_image_done().
 */
void by_image_group(const struct gather *g, const struct classes *c, struct by_image *ret);
/* Frees what by_image_group() allocated. */
void by_image_done(struct by_image *inv);
