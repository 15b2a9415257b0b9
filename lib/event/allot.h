/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Assigns hardware counters to events when some events can be counted by certain counters only. The
 * module keeps no state and allocates nothing.
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
	int counter[ALLOT_MAX]; /* assigned to each event; ALLOT_NONE if it needs none */
	uint64_t collide;	/* events for which there are too few counters */
	uint64_t contended;	/* all counters that can count one of these */
};

/* Assigns each of @count events (at most ALLOT_MAX) a counter of its own from the set @wanted[i],
 * one bit per counter; an event with an empty set needs none. Finds an assignment whenever one
 * exists. Returns 0, or -EBUSY and in @ret the events that collide; without the last of them the
 * others fit. */
int allot(const uint64_t *wanted, size_t count, struct allotment *ret);
