/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile of one program as gprof(1) sees one: the samples in its functions by address, and the
 * arcs between them out of call graph files.
 *
 *	if (gprof_select(gather, &image, err) == 0 &&
 *	    gprof_collect(gather, binaries, image, 0, &gmon, &stats, err) == 0)
 *		gmon_write(&gmon, out);
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct binaries;
struct gather;
struct gmon;

struct gprof_stats {
	uint64_t samples;  /* in the image, of these: */
	uint64_t outside;  /* in no function, or in a PLT entry, which gprof knows nothing of */
	uint64_t unknown;  /* in functions whose names gprof passes over */
	uint64_t below;	   /* in functions below the threshold */
	uint64_t arcs;	   /* sum of the counts of arcs inside the image, of these: */
	uint64_t lost;	   /* from or to such places */
	char example[128]; /* one of the names that gprof passes over */
};

/* The image that the profile is about: the only one that samples are in, or the only application.
 * 0, or -EINVAL with the list of those that are there, or with the events where there are several.
 */
int gprof_select(const struct gather *g, uint32_t *ret_image, struct error *err);

/* Adds all samples in @image to @ret, but for functions with less than @threshold percent of them,
 * and its arcs. 0, the caller calls gmon_done(); or negative with the reason: -ENODATA where the
 * image has no file with symbols, or no samples. */
int gprof_collect(const struct gather *g, struct binaries *bs, uint32_t image, double threshold,
		  struct gmon *ret, struct gprof_stats *stats, struct error *err);
