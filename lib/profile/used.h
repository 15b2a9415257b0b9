/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which places of an image a profile has samples or arcs at: what a compact archive of it needs.
 *
 *	struct used u = { 0 };
 *	used_read(gather, image, false, &u);
 *	for (i = 0; i < u.count; i++)
 *		...u.offsets[i]...
 *	used_done(&u);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gather;

/* In the unit of the image's samples; sorted, each once. */
struct used {
	uint64_t *offsets;
	size_t count, room;
};

/* Adds what the files of @g have of image number @image: samples, callers, callees; with
 * @exclude_dependent only of files that are of the application itself. */
void used_read(const struct gather *g, uint32_t image, bool exclude_dependent, struct used *u);
/* Frees all. */
void used_done(struct used *u);
