/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers of a slice: those of the samples that its counts add up to. */
#include "test.h"

#include "collect/internal/slicing.h"

#define SECOND_NS UINT64_C(1000000000)

static struct slice end(struct slicing *s, uint64_t samples, uint64_t received, uint64_t skipped,
			uint64_t lost)
{
	struct slice slice;

	slicing_end(s, s->begin_ns + 10 * SECOND_NS,
		    &(struct slicing_totals){ samples, received, skipped, lost }, &slice);
	CHECK_EQ(slice.span.end_ms - slice.span.begin_ms, 10000);
	return slice;
}

static void slices_add_up_to_the_totals(void)
{
	struct slicing s = { 0 };
	struct slice slice;

	slicing_begin(&s, &(struct slicing_totals){ 1000, 1000, 100, 10 });
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

	slicing_begin(&s, &(struct slicing_totals){ 0 });
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

	slicing_begin(&s, &(struct slicing_totals){ 0 });
	slice = end(&s, 100, 10000, 9000, 5000);
	CHECK_EQ(slice.taken, 10);
	slice = end(&s, 200, 10100, 9000, 5000);
	CHECK_EQ(slice.taken, 100);
}

TESTS(T(slices_add_up_to_the_totals), T(samples_that_waited_were_taken_as_the_last_ones),
      T(samples_are_taken_whatever_becomes_of_the_others))
