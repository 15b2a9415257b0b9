/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters for events that not every counter can count. Nothing is kept.
 *
 *	struct allotment a;
 *	if (allot(wanted, count, &a) == 0)
 *		printf("event %zu is counted by counter %d", i, (int)a.counter[i]);
 *	else
 *		...	those of a.collide, a bit each, are more than the counters of a.contended
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { ALLOT_MAX = 64, ALLOT_NONE = -1 };

struct allotment {
	int counter[ALLOT_MAX]; /* of each event, ALLOT_NONE where it needs none */
	uint64_t collide;	/* events for which there are too few counters */
	uint64_t contended;	/* all the counters that can count one of these */
};

/* Gives each of @count events, at most ALLOT_MAX, a counter of its own out of those in its set
 * @wanted, a bit each, so that all have one, whenever that can be; a set of none needs none. 0, or
 * -EBUSY with events that collide: they would not without the last of them. */
int allot(const uint64_t *wanted, size_t count, struct allotment *ret);
