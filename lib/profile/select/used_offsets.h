/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which places of each image a profile has samples, arcs or chains at: what a compact archive of it
 * needs.
 *
 *	struct used_places p = { 0 };
 *	used_collect(gather, false, &p);
 *	for (i = 0; i < p.of[image].count; i++)
 *		...p.of[image].offsets[i]...
 *	used_done(&p);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gather;

/* Of one image, in the unit of its samples; sorted, each once. */
struct used {
	uint64_t *offsets;
	size_t count, room;
	size_t settled; /* while they are collected: the first of them are sorted */
};

struct used_places {
	struct used *of; /* by number of the image */
	size_t count;
};

/* Enters the images in the gather that only call chains of its sessions have; before binaries are
 * made of it. Returns, by number of the image, whether chains have it; caller frees. */
bool *used_chain_images(struct gather *g);
/* Collects what the files of @g have: samples, callers, callees; with @exclude_dependent only of
 * files that are of the application itself; and the frames of all chains. Their images must have
 * been entered. The caller calls used_done(). */
void used_collect(struct gather *g, bool exclude_dependent, struct used_places *ret);
/* Adds a place; used_settle() is to be called behind the last one. */
void used_add(struct used *u, uint64_t offset);
/* Sorts, and leaves out what is there twice. */
void used_settle(struct used *u);
/* Frees all. */
void used_done(struct used_places *p);
