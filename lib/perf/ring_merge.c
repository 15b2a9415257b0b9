/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/ring_merge.h"

#include "base/clock.h"
#include "base/macro.h"

/* Records that the kernel wrote since somebody looked at the clock are younger than what is asked
 * for, but not by so much. */
#define FUTURE_NS UINT64_C(10000000000)

/* Number of records between two looks at the clock. */
enum { LOOK_EVERY = 8 };

struct merge {
	struct ring_merge_cpu *cpus;
	size_t count;
	uint64_t until_ns;
	const struct ring_merge_handler *handler;
	size_t bad;
	unsigned int handled;	  /* records since the last look at the clock */
	uint64_t first_sample_ns; /* the oldest sample of all CPUs is not older */
};

/* A time far in the future is a clock error, and would hold up all records after it in its ring:
 * sets it to the end of this run. */
static void correct_time(const struct merge *m, struct perf_record *record)
{
	if (record->time_ns > m->until_ns && record->time_ns - m->until_ns > FUTURE_NS)
		record->time_ns = m->until_ns;
}

/* Decodes the next record of @ring that makes sense; whether there is one. */
static bool next_record(struct merge *m, struct ring *ring, struct perf_record *ret)
{
	struct span bytes;
	int r;

	while (ring && (r = ring_peek(ring, &bytes)) != 0) {
		if (r > 0 && perf_record_decode(bytes, ret) == 0) {
			correct_time(m, ret);
			return true;
		}
		if (r > 0)
			ring_take(ring);
		m->bad++;
	}
	return false;
}

static void look_at(struct merge *m, struct ring_merge_cpu *c)
{
	if (c->sideband)
		ring_refresh(c->sideband);
	if (c->samples)
		ring_refresh(c->samples);
	c->have_change = next_record(m, c->sideband, &c->change);
	c->have_sample = next_record(m, c->samples, &c->sample);
}

/* Notes that a record was handled, and whether time is over. */
static void note_handled(struct merge *m)
{
	const struct ring_merge_handler *h = m->handler;

	if (!h->end_ns || ++m->handled < LOOK_EVERY)
		return;
	m->handled = 0;
	*h->is_cut = clock_now_ns() >= h->end_ns;
}

static bool is_held(const struct merge *m)
{
	return m->handler->held && *m->handler->held;
}

/* Whether the run ends before it is done. */
static bool is_over(const struct merge *m)
{
	return is_held(m) || (m->handler->end_ns && *m->handler->is_cut);
}

static void take_samples_of(struct merge *m, struct ring_merge_cpu *c, uint64_t until_ns)
{
	bool any = false;

	while (c->have_sample && c->sample.time_ns <= until_ns && !is_over(m)) {
		m->handler->sample((size_t)(c - m->cpus), &c->sample, m->handler->data);
		if (is_held(m))
			break;
		ring_take(c->samples);
		c->have_sample = next_record(m, c->samples, &c->sample);
		any = true;
		note_handled(m);
	}
	if (any)
		ring_release(c->samples);
}

/* Handles the samples of all CPUs up to @until_ns. */
static void take_samples(struct merge *m, uint64_t until_ns)
{
	size_t i;

	if (m->first_sample_ns > until_ns)
		return;
	m->first_sample_ns = UINT64_MAX;
	for (i = 0; i < m->count && !is_over(m); i++) {
		struct ring_merge_cpu *c = &m->cpus[i];

		take_samples_of(m, c, until_ns);
		if (c->have_sample)
			m->first_sample_ns = MIN(m->first_sample_ns, c->sample.time_ns);
	}
}

/* The CPU whose next change is the oldest, not younger than @until_ns; NULL if there is none. */
static struct ring_merge_cpu *oldest_change(struct merge *m, uint64_t until_ns)
{
	struct ring_merge_cpu *oldest = NULL;
	size_t i;

	for (i = 0; i < m->count; i++) {
		struct ring_merge_cpu *c = &m->cpus[i];

		if (c->have_change && c->change.time_ns <= until_ns &&
		    (!oldest || c->change.time_ns < oldest->change.time_ns))
			oldest = c;
	}
	return oldest;
}

size_t ring_merge_run(struct ring_merge_cpu *cpus, size_t count, uint64_t until_ns,
		      const struct ring_merge_handler *handler)
{
	struct merge m = { .cpus = cpus, .count = count, .until_ns = until_ns, .handler = handler };
	struct ring_merge_cpu *c;
	size_t i;

	for (i = 0; i < count; i++)
		look_at(&m, &cpus[i]);
	while ((c = oldest_change(&m, until_ns))) {
		/* What happened in the same nanosecond as a change is looked up after it. */
		if (c->change.time_ns)
			take_samples(&m, c->change.time_ns - 1);
		if (is_over(&m))
			break;
		handler->change((size_t)(c - cpus), &c->change, handler->data);
		ring_take(c->sideband);
		ring_release(c->sideband);
		c->have_change = next_record(&m, c->sideband, &c->change);
		note_handled(&m);
	}
	if (!is_over(&m))
		take_samples(&m, until_ns);
	/* Records that made no sense were passed over without a handler's taking them. */
	for (i = 0; i < count; i++) {
		if (cpus[i].samples)
			ring_release(cpus[i].samples);
		if (cpus[i].sideband)
			ring_release(cpus[i].sideband);
	}
	return m.bad;
}
