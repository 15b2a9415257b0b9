/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trend: how large the share of some symbols was in each step of time, and of each build of their
 * images, and where it changed. The counts are those of a profile whose steps are divided into
 * parts, which show how much the share varies within a step (statistics.h).
 *
 *	struct trend t;
 *	trend_make(gather, &classes, &container, &t);
 *	for (i = 0; i < t.tables[0].steps.count; i++)
 *		printf("%" PRIu64 "\n", t.tables[0].steps.entries[i].part.count);
 *	trend_done(&t);
 */
#pragma once

#include "history/window.h"
#include "profile/rows/container.h"
#include "profile/rows/diff.h"
#include "profile/rows/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct class;
struct classes;
struct gather;

/* A step, or a build. */
struct trend_entry {
	struct window span; /* of a build: the parts of steps from its first to its last sample,
			     * of any symbol */
	uint32_t image;	    /* of the gather; GATHER_NONE: it is a step */
	struct statistics_part part; /* samples of all samples in the span; of a build, of those
				      * that are its own (internal/build_totals.h) */
	struct statistics_interval share;
	bool is_compared; /* with the entry before: the step, or a build of an image of that name */
	double percent;	  /* by which the share grew since then */
	enum diff_verdict verdict;
	const struct row_place *place; /* of a build, of a line there; NULL: not known */
	enum row_found found;	       /* how ->place was found: in the worst case of several */
};

struct trend_list {
	struct trend_entry *entries;
	size_t count;
};

/* The trend of one event. */
struct trend_table {
	const struct class *class;
	struct trend_list steps;  /* those with samples of anything */
	struct trend_list builds; /* by path; those of one in the order of their first samples */
};

struct trend {
	int64_t step_ms;
	struct trend_table *tables;
	size_t table_count;
};

/* Makes the tables. The rows of @c are added up; all is borrowed. The caller calls trend_done(). */
void trend_make(const struct gather *g, const struct classes *classes, const struct container *c,
		struct trend *ret);
/* Frees what trend_make() allocated. */
void trend_done(struct trend *t);
