/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/allot.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>

enum { COUNTERS_MAX = 64 };

/* A matching of events and counters, extended by augmenting paths (Hall, Kuhn). */
struct matching {
	const uint64_t *wanted;
	int owner[COUNTERS_MAX]; /* the event assigned to the counter, or ALLOT_NONE */
};

/* Returns the lowest free counter for @event, or ALLOT_NONE. */
static int free_counter(const struct matching *m, size_t event)
{
	int counter;

	for (counter = 0; counter < COUNTERS_MAX; counter++)
		if (m->wanted[event] >> counter & 1 && m->owner[counter] == ALLOT_NONE)
			return counter;
	return ALLOT_NONE;
}

/* Finds a counter for @event, moving other events if necessary; @tried is the set of counters
 * already considered. */
static bool place(struct matching *m, size_t event, uint64_t *tried)
{
	int counter = free_counter(m, event);

	if (counter != ALLOT_NONE) {
		m->owner[counter] = (int)event;
		return true;
	}
	for (counter = 0; counter < COUNTERS_MAX; counter++) {
		uint64_t bit = 1ULL << counter;

		if (!(m->wanted[event] & bit) || *tried & bit)
			continue;
		*tried |= bit;
		if (!place(m, (size_t)m->owner[counter], tried))
			continue;
		m->owner[counter] = (int)event;
		return true;
	}
	return false;
}

/* Reports a collision. Every counter in @tried has an owner that can use only counters in @tried,
 * so these owners and @event are one event too many. */
static int collide(const struct matching *m, size_t event, uint64_t tried, struct allotment *ret)
{
	int counter;

	ret->contended = tried;
	ret->collide = 1ULL << event;
	for (counter = 0; counter < COUNTERS_MAX; counter++)
		if (tried >> counter & 1)
			ret->collide |= 1ULL << m->owner[counter];
	return -EBUSY;
}

int allot(const uint64_t *wanted, size_t count, struct allotment *ret)
{
	struct matching m = { .wanted = wanted };
	size_t i;

	assert(count <= ALLOT_MAX);
	for (i = 0; i < COUNTERS_MAX; i++)
		m.owner[i] = ALLOT_NONE;
	for (i = 0; i < count; i++) {
		uint64_t tried = 0;

		ret->counter[i] = ALLOT_NONE;
		if (wanted[i] && !place(&m, i, &tried))
			return collide(&m, i, tried, ret);
	}
	for (i = 0; i < COUNTERS_MAX; i++)
		if (m.owner[i] != ALLOT_NONE)
			ret->counter[m.owner[i]] = (int)i;
	ret->collide = ret->contended = 0;
	return 0;
}
