/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inversion: the files of a report by the image that their samples are in, so that each image is
 * opened once however many applications use it.
 *
 *	struct inverted inv;
 *	invert_files(gather, &classes, &inv);
 *	for (i = 0; i < inv.image_count; i++)
 *		...inv.files[inv.images[i].first] and the inv.images[i].count - 1 behind it
 *	invert_done(&inv);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct classes;
struct gather;

struct inverted_image {
	uint32_t image;	     /* index in the gather */
	size_t first, count; /* its part of ->files */
};

struct inverted {
	uint32_t *files; /* indexes in the gather: by image, then application, then class */
	size_t file_count;
	struct inverted_image *images;
	size_t image_count;
};

/* Sorts the flat sample files of @g; call graph files are left out. Caller calls invert_done(). */
void invert_files(const struct gather *g, const struct classes *c, struct inverted *ret);
/* Frees what invert_files() allocated. */
void invert_done(struct inverted *inv);
