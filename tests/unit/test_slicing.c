/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers of a slice: those of the samples that its counts add up to. */
#include "test.h"

#include "collect/internal/slicing.h"

#define MS_NS  UINT64_C(1000000)
#define DAY_MS INT64_C(1767225600000)

/* A clock that shows @ms since the machine was started, @suspended_ms of which it was suspended. */
static struct slicing_clock clock_at(uint64_t ms, uint64_t suspended_ms)
{
	return (struct slicing_clock){ (ms - suspended_ms) * MS_NS, suspended_ms * MS_NS,
				       DAY_MS + (int64_t)ms };
}

static struct slice end(struct slicing *s, uint64_t samples, uint64_t received, uint64_t skipped,
			uint64_t lost)
{
	const uint64_t until_ns = s->begin_ns + 10000 * MS_NS;
	const struct slicing_clock now = clock_at(until_ns / MS_NS, 0);
	struct slice slice;

	slicing_end(s, &now, until_ns, &(struct slicing_totals){ samples, received, skipped, lost },
		    &slice);
	CHECK_EQ(slice.span.end_ms, now.day_ms);
	CHECK_EQ(slice.span.end_ms - slice.span.begin_ms, 10000);
	return slice;
}

/* Begins a slice a minute after the machine was started. */
static void begin(struct slicing *s, const struct slicing_totals *totals)
{
	const struct slicing_clock now = clock_at(60000, 0);

	slicing_begin(s, &now, totals);
}

static void slices_add_up_to_the_totals(void)
{
	struct slicing s = { 0 };
	struct slice slice;

	begin(&s, &(struct slicing_totals){ 1000, 1000, 100, 10 });
	slice = end(&s, 1500, 1500, 200, 10);
	CHECK_EQ(slice.samples, 500);
	CHECK_EQ(slice.taken, 400);
	CHECK_EQ(slice.lost, 0);
	slice = end(&s, 1600, 1603, 200, 13);
	CHECK_EQ(slice.samples, 100);
	CHECK_EQ(slice.taken, 100);
	CHECK_EQ(slice.lost, 3);
}

/* Samples that wait for their code are in a later slice than the driver received them in. */
static void samples_that_waited_were_taken_as_the_last_ones(void)
{
	struct slicing s = { 0 };
	struct slice slice;

	begin(&s, &(struct slicing_totals){ 0 });
	slice = end(&s, 20, 120, 60, 0);
	CHECK_EQ(slice.samples, 20);
	CHECK_EQ(slice.taken, 10);
	slice = end(&s, 120, 120, 60, 0);
	CHECK_EQ(slice.samples, 100);
	CHECK_EQ(slice.taken, 50);
}

/* Most of what was received is of other processes, or lost. */
static void samples_are_taken_whatever_becomes_of_the_others(void)
{
	struct slicing s = { 0 };
	struct slice slice;

	begin(&s, &(struct slicing_totals){ 0 });
	slice = end(&s, 100, 10000, 9000, 5000);
	CHECK_EQ(slice.taken, 10);
	slice = end(&s, 200, 10100, 9000, 5000);
	CHECK_EQ(slice.taken, 100);
}

/* The slice of the 4 s before it ends as the machine wakes up, and the next one begins there. */
static void the_time_of_a_suspension_is_in_no_slice(void)
{
	const uint64_t hour_ms = 3600 * 1000;
	const struct slicing_clock before = clock_at(64000, 0),
				   awake = clock_at(64000 + hour_ms, hour_ms),
				   later = clock_at(74500 + hour_ms, hour_ms);
	const struct slicing_totals none = { 0 };
	struct slicing s = { 0 };
	struct slice slice;

	begin(&s, &none);
	CHECK(!slicing_is_due(&s, &before, 64000 * MS_NS, 10000));
	CHECK(slicing_is_due(&s, &awake, 63500 * MS_NS, 10000));
	slicing_end(&s, &awake, 63500 * MS_NS, &none, &slice);
	CHECK_EQ(slice.span.begin_ms, DAY_MS + 60000);
	CHECK_EQ(slice.span.end_ms, DAY_MS + 63500);
	CHECK(!slicing_is_due(&s, &awake, 64000 * MS_NS, 10000));
	CHECK(slicing_is_due(&s, &later, 74000 * MS_NS, 10000));
	slicing_end(&s, &later, 74000 * MS_NS, &none, &slice);
	CHECK_EQ(slice.span.begin_ms, DAY_MS + 63500 + (int64_t)hour_ms);
	CHECK_EQ(slice.span.end_ms, DAY_MS + 74000 + (int64_t)hour_ms);
}

/* Two clocks are not read at the same instant. */
static void what_is_short_is_no_suspension(void)
{
	const struct slicing_clock now = clock_at(64500, 500);
	struct slicing s = { 0 };

	begin(&s, &(struct slicing_totals){ 0 });
	CHECK(!slicing_is_due(&s, &now, 64000 * MS_NS, 10000));
}

/* The time of day is that of the slice's end, and how long it took is known from another clock. */
static void a_clock_that_is_set_changes_no_length(void)
{
	static const int64_t steps_ms[] = { -7200 * 1000, -1, 1, 7200 * 1000 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps_ms); i++) {
		struct slicing_clock now = clock_at(70000, 0);
		struct slicing s = { 0 };
		struct slice slice;

		begin(&s, &(struct slicing_totals){ 0 });
		now.day_ms += steps_ms[i];
		slicing_end(&s, &now, 70000 * MS_NS, &(struct slicing_totals){ 0 }, &slice);
		CHECK_EQ(slice.span.end_ms, DAY_MS + 70000 + steps_ms[i]);
		CHECK_EQ(slice.span.begin_ms, DAY_MS + 60000 + steps_ms[i]);
	}
}

static void a_machine_that_is_awake_is_not_suspended(void)
{
	const struct slicing_clock first = slicing_clock_read(), second = slicing_clock_read();
	struct slicing s = { 0 };

	slicing_begin(&s, &first, &(struct slicing_totals){ 0 });
	CHECK(!slicing_is_due(&s, &second, second.now_ns, 3600 * 1000));
	CHECK(second.now_ns >= first.now_ns);
}

TESTS(T(slices_add_up_to_the_totals), T(samples_that_waited_were_taken_as_the_last_ones),
      T(samples_are_taken_whatever_becomes_of_the_others),
      T(the_time_of_a_suspension_is_in_no_slice), T(what_is_short_is_no_suspension),
      T(a_clock_that_is_set_changes_no_length), T(a_machine_that_is_awake_is_not_suspended))
