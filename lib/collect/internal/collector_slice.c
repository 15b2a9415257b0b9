/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"
#include "driver/driver.h"
#include "history/levels.h"
#include "collect/collector.h"
#include "collect/internal/collector_state.h"
#include "record/record.h"

#include <inttypes.h>

static struct slicing_totals totals_of(const struct collector *c)
{
	struct driver_stats driver;
	struct record_stats record;
	struct slicing_totals t;
	const struct counter *counter;
	size_t i;

	collector_stats(c, &driver, &record);
	t = (struct slicing_totals){ .samples = record_counted(c->record),
				     .received = driver.sample_received,
				     .skipped = driver.sample_stretched };
	for (i = 0; (counter = counter_at(i)); i++)
		if (counter->kind == COUNTER_LOST)
			t.lost += counter_value(counter, &driver, &record);
	return t;
}

void collector_begin_slice(struct collector *c)
{
	struct slicing_clock now = slicing_clock_read();
	struct slicing_totals totals;

	if (!c->has_history)
		return;
	totals = totals_of(c);
	slicing_begin(&c->slicing, &now, &totals);
}

/* Whether the slice ends with the samples taken before @until_ns. */
static bool slice_ends(const struct collector *c, const struct slicing_clock *now,
		       uint64_t until_ns, enum slice_end when)
{
	enum { REQUESTED_SLICE_MS = 500 };
	uint64_t length_ms = when == SLICE_ON_REQUEST ? REQUESTED_SLICE_MS : HISTORY_SLICE_MS;

	return when == SLICE_LAST || slicing_is_due(&c->slicing, now, until_ns, length_ms) ||
	       record_slice_is_full(c->record);
}

void collector_end_slice(struct collector *c, enum slice_end when)
{
	uint64_t until_ns = c->has_history ? c->ops->taken_until_ns(c->driver) : 0;
	struct slicing_clock now = slicing_clock_read();
	struct slicing_totals totals;
	struct error err = ERROR_INIT;
	struct slice slice;

	if (until_ns <= c->slicing.begin_ns || !c->slicing.begin_ns ||
	    !slice_ends(c, &now, until_ns, when))
		return;
	totals = totals_of(c);
	slicing_end(&c->slicing, &now, until_ns, &totals, &slice);
	if (record_end_slice(c->record, &slice, &err) < 0)
		log_error("%s: %" PRId64 " ms are missing in the history", err.text,
			  slice.span.end_ms - slice.span.begin_ms);
	if (when == SLICE_LAST)
		c->slicing.begin_ns = 0;
}
