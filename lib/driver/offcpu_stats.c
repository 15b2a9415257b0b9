/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/offcpu_stats.h"

#include "event/event.h"

#include <math.h>

/* In milliseconds squared, rounded up: a sum that is known is not 0. */
static uint64_t of_ms(const struct offcpu_squares *s)
{
	const double long_ms = (1 << OFFCPU_LONG_SHIFT) / 1e3;
	double sum = (double)s->of_short / 1e6 + (double)s->of_long * long_ms * long_ms;

	return sum < (double)UINT64_MAX ? (uint64_t)ceil(sum) : UINT64_MAX;
}

void offcpu_stats_squares(const struct evoffcpu *o, const struct offcpu_squares *squares,
			  struct driver_stats *stats)
{
	size_t count = evoffcpu_count(o), i;
	struct event event;

	for (i = 0; i < count; i++) {
		evoffcpu_event(o, i, &event);
		*counter_place(counter_of_waits(event.name), stats) = of_ms(&squares[i]);
	}
}
