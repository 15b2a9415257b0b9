/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The offsets in each image at which a profile has samples, arcs or chains: the content of a
 * compact archive.
 *
 *	struct used_offsets_places p = { 0 };
 *	used_offsets_collect(gather, false, &p);
 *	for (i = 0; i < p.of[image].count; i++)
 *		...p.of[image].offsets[i]...
 *	used_offsets_done(&p);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gather;

/* The offsets of one image, relative to the same base as its samples; sorted, each once. */
struct used_offsets {
	uint64_t *offsets;
	size_t count, room;
	size_t settled; /* during collection: the first ones, which are sorted */
};

struct used_offsets_places {
	struct used_offsets *of; /* by number of the image */
	size_t count;
};

/* Collects samples, callers and callees from the files of @g (with @exclude_dependent only from
 * those of the application itself), and the frames of all chains. Their images must be in the
 * gather already (chains_open()). The caller calls used_offsets_done(). */
void used_offsets_collect(struct gather *g, bool exclude_dependent,
			  struct used_offsets_places *ret);
/* Adds a place; used_offsets_settle() is to be called after the last one. */
void used_offsets_add(struct used_offsets *u, uint64_t offset);
/* Sorts the offsets and removes duplicates. */
void used_offsets_settle(struct used_offsets *u);
/* Frees all. */
void used_offsets_done(struct used_offsets_places *p);
