/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile of one program for gprof(1): the samples in its functions by address, and the arcs
 * between these functions from call graph files.
 *
 *	if (gprof_collect(gather, binaries, 0, &gmon, &stats, err) == 0)
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
	uint64_t outside;  /* in no function, or in a PLT entry, which gprof does not know */
	uint64_t unknown;  /* in functions whose names gprof ignores */
	uint64_t below;	   /* in functions below the threshold */
	uint64_t arcs;	   /* sum of the counts of arcs inside the image, of these: */
	uint64_t lost;	   /* from or to such places */
	char example[128]; /* one of the names that gprof ignores */
};

/* Adds the samples of the only image that has any, or else of the only application, to @ret, except
 * those of functions with less than @threshold percent of them; and the arcs inside it. 0, the
 * caller calls gmon_done(); or negative with the reason: -EINVAL if there are several images or
 * events, -ENODATA if the image has no file with symbols, or no samples. */
int gprof_collect(const struct gather *g, struct binaries *bs, double threshold, struct gmon *ret,
		  struct gprof_stats *stats, struct error *err);
