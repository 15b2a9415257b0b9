/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up the builds of a path before two profiles are compared, if the program was updated between
 * them or while one was recorded. Each build is compared with itself as long as the builds have
 * about the same shares of the path's samples in both profiles. If more than half of the samples
 * moved from one build to another, that would compare what is left of a build with all of it.
 *
 *	struct diff_builds b;
 *	diff_builds_find(gathers, samples, &b);
 *	diff_builds_join(&b, 0, &first, gathers[0], NULL);
 *	diff_builds_join(&b, 1, &second, gathers[1], NULL);
 *	...match images
 *	diff_builds_name(&b, gathers[1]);
 *	diff_builds_done(&b);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct container;
struct gather;

/* By image of each of the two profiles; owned. */
struct diff_builds {
	size_t counts[2];   /* of images */
	uint32_t *shown[2]; /* the build that stands for all of its path: the one with the most
			     * samples. Of other images: itself */
	bool *joined[2];    /* whether the builds of its path are added up */
	bool any[2];	    /* whether there are such paths */
	bool *sampled[2];   /* whether the image has samples, and no other build stands for it */
};

/* The samples of each image in @c, as image or application; at least 1 if there is a row of it.
 * Caller frees. */
uint64_t *diff_builds_samples(const struct gather *g, const struct container *c);
/* Finds the paths whose builds have to be added up. @samples: by image of each profile. The caller
 * calls diff_builds_done(). */
void diff_builds_find(const struct gather *const gathers[2], const uint64_t *const samples[2],
		      struct diff_builds *ret);
/* Lets the rows of all builds of such paths be of the one that stands for them, and adds up rows
 * with the same function. Those of other images that had one of these as application are added up,
 * too. @ids, by id of a row, becomes its new one; may be NULL. Rows must be in the order of their
 * ids. */
void diff_builds_join(const struct diff_builds *b, unsigned int side, struct container *c,
		      const struct gather *g, uint32_t *ids);
/* Shows the builds of such paths in the second profile by their path alone, and sets ->has_builds
 * of those that stand for the others. */
void diff_builds_name(const struct diff_builds *b, struct gather *second);
/* Frees all. */
void diff_builds_done(struct diff_builds *b);
