/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slices of a session's history: when each ends, and what was sampled in it. The times of a
 * slice are those between which its samples were taken, not when they were recorded. The caller
 * embeds the struct, all-zero at first.
 *
 *	struct slicing_clock now = slicing_clock_read();
 *
 *	slicing_begin(&s, &now, &totals);
 *	if (slicing_is_due(&s, &now, until_ns, HISTORY_SLICE_MS))
 *		slicing_end(&s, &now, until_ns, &totals, &slice);
 */
#pragma once

#include "history/slice_file.h"

/* What was counted so far. */
struct slicing_totals {
	uint64_t samples;  /* that were counted: what the counts of all slices add up to */
	uint64_t received; /* by the driver, wherever they went */
	uint64_t skipped;  /* the part of these that was not taken, to save time */
	uint64_t lost;
};

/* What time it is. */
struct slicing_clock {
	uint64_t now_ns;       /* CLOCK_MONOTONIC */
	uint64_t suspended_ns; /* how long the machine was suspended since it was started */
	int64_t day_ms;	       /* the time of day, as in struct window */
};

struct slicing {
	uint64_t begin_ns;	    /* CLOCK_MONOTONIC; 0: no slice has begun */
	uint64_t suspended_ns;	    /* when the slice began */
	struct slicing_totals then; /* when the slice began */
	double taken; /* share of the samples received last that were not skipped; 0: none yet */
};

struct slicing_clock slicing_clock_read(void);
/* Begins the first slice: samples are taken from now on. */
void slicing_begin(struct slicing *s, const struct slicing_clock *now,
		   const struct slicing_totals *totals);
/* Whether the slice is at least @length_ms long, if the samples taken before @until_ns are
 * recorded, or the machine was suspended since it began. */
bool slicing_is_due(const struct slicing *s, const struct slicing_clock *now, uint64_t until_ns,
		    uint64_t length_ms);
/* Ends the slice, which contains the samples taken before @until_ns, and begins the next one. If
 * the machine was suspended, this was in between. */
void slicing_end(struct slicing *s, const struct slicing_clock *now, uint64_t until_ns,
		 const struct slicing_totals *totals, struct slice *ret);
