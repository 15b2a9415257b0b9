/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/slicing.h"

#include "base/clock.h"

#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)

/* The time of day at @ns of CLOCK_MONOTONIC, which is a moment ago. */
static int64_t time_of_day(uint64_t ns)
{
	return window_now_ms() - (int64_t)((clock_now_ns() - ns) / NS_PER_MS);
}

static uint64_t online_cpus(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus > 0 ? (uint64_t)cpus : 1;
}

void slicing_begin(struct slicing *s, const struct slicing_totals *totals)
{
	s->begin_ns = clock_now_ns();
	s->then = *totals;
}

bool slicing_is_due(const struct slicing *s, uint64_t until_ns, uint64_t length_ms)
{
	return s->begin_ns && until_ns >= s->begin_ns + length_ms * NS_PER_MS;
}

void slicing_end(struct slicing *s, uint64_t until_ns, const struct slicing_totals *totals,
		 struct slice *ret)
{
	uint64_t length_ms = (until_ns - s->begin_ns) / NS_PER_MS;
	uint64_t received = totals->received - s->then.received;

	/* Samples that waited for their code were received earlier. */
	if (received)
		s->taken = 1 - (double)(totals->skipped - s->then.skipped) / (double)received;
	ret->span.end_ms = time_of_day(until_ns);
	/* The clock may have been set, but how long the slice took is known all the same. */
	ret->span.begin_ms = ret->span.end_ms - (int64_t)length_ms;
	ret->samples = totals->samples - s->then.samples;
	ret->taken = (uint64_t)((double)ret->samples * s->taken + 0.5);
	ret->lost = totals->lost - s->then.lost;
	ret->cpu_ms = online_cpus() * length_ms;
	s->then = *totals;
	s->begin_ns = until_ns;
}
