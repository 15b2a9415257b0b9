/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which part of all samples the share of a build is of. A program is rebuilt, and both builds may
 * be sampled in one part of the time, so all samples of that part are divided between its builds:
 * in the proportion of their own samples. Those of a part without samples of any build belong to
 * the builds that were sampled last before, and will be again.
 *
 *	struct build_totals b;
 *	build_totals_make(gather, classes, is_used, &b);
 *	build_totals_of(&b, image, first, totals, count, its);
 *	build_totals_done(&b);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct classes;
struct gather;

struct build_totals {
	const struct gather *gather;
	uint32_t *programs; /* of each image: the first one with its path */
	uint64_t **sums;    /* of each image, of each class; NULL: no build of it is in use */
};

/* Reads the samples of the images in use, and of all with the same path. The caller calls
 * build_totals_done(). */
void build_totals_make(const struct gather *g, const struct classes *classes, const bool *is_used,
		       struct build_totals *ret);
/* Writes to @ret how many of the @totals of @count parts of the time, whose classes begin with
 * @first, are those of the build @image. */
void build_totals_of(const struct build_totals *b, uint32_t image, size_t first,
		     const uint64_t *totals, size_t count, uint64_t *ret);
/* Frees what build_totals_make() allocated. */
void build_totals_done(struct build_totals *b);
