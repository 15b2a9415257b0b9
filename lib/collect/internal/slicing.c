/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/slicing.h"

#include "base/clock.h"
#include "base/macro.h"

#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)

enum {
	READS_MAX = 10,
	CLOSE_NS = 1000000,	   /* what may pass between two clocks that are read together */
	SUSPENSION_NS = 1000000000 /* what is shorter is part of a slice */
};

struct slicing_clock slicing_clock_read(void)
{
	struct slicing_clock c = { 0 };
	uint64_t before_ns = 0;
	int i;

	/* Who waits for a CPU in between was not suspended. */
	for (i = 0; i < READS_MAX && (i == 0 || c.now_ns - before_ns > CLOSE_NS); i++) {
		before_ns = clock_now_ns();
		c.suspended_ns = clock_ns(CLOCK_BOOTTIME);
		c.day_ms = window_now_ms();
		c.now_ns = clock_now_ns();
	}
	c.suspended_ns -= MIN(c.now_ns, c.suspended_ns);
	return c;
}

/* How long the machine was suspended since the slice began. */
static uint64_t suspended_ns(const struct slicing *s, const struct slicing_clock *now)
{
	uint64_t ns = now->suspended_ns - MIN(s->suspended_ns, now->suspended_ns);

	return ns >= SUSPENSION_NS ? ns : 0;
}

static uint64_t online_cpus(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus > 0 ? (uint64_t)cpus : 1;
}

void slicing_begin(struct slicing *s, const struct slicing_clock *now,
		   const struct slicing_totals *totals)
{
	s->begin_ns = now->now_ns;
	s->suspended_ns = now->suspended_ns;
	s->then = *totals;
}

bool slicing_is_due(const struct slicing *s, const struct slicing_clock *now, uint64_t until_ns,
		    uint64_t length_ms)
{
	return s->begin_ns &&
	       (until_ns >= s->begin_ns + length_ms * NS_PER_MS || suspended_ns(s, now) > 0);
}

void slicing_end(struct slicing *s, const struct slicing_clock *now, uint64_t until_ns,
		 const struct slicing_totals *totals, struct slice *ret)
{
	uint64_t ago_ns = now->now_ns - until_ns + suspended_ns(s, now);
	uint64_t length_ms = (until_ns - s->begin_ns) / NS_PER_MS;
	uint64_t received = totals->received - s->then.received;

	/* Samples that waited for their code were received earlier. */
	if (received)
		s->taken = 1 - (double)(totals->skipped - s->then.skipped) / (double)received;
	ret->span.end_ms = now->day_ms - (int64_t)(ago_ns / NS_PER_MS);
	/* The clock may have been set, but how long the slice took is known all the same. */
	ret->span.begin_ms = ret->span.end_ms - (int64_t)length_ms;
	ret->samples = totals->samples - s->then.samples;
	ret->taken = (uint64_t)((double)ret->samples * s->taken + 0.5);
	ret->lost = totals->lost - s->then.lost;
	ret->cpu_ms = online_cpus() * length_ms;
	s->then = *totals;
	s->begin_ns = until_ns;
	s->suspended_ns = now->suspended_ns;
}
