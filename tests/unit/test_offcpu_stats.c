/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "driver/offcpu_stats.h"

static uint64_t one_wait(uint64_t us)
{
	struct offcpu_squares s = { 0 };
	struct driver_stats stats = { 0 };

	offcpu_square(&s, us);
	offcpu_stats_squares(&(struct evoffcpu){ .total = true }, &s, &stats);
	return stats.offcpu_squares;
}

/* Short ones are not lost, long ones do not overflow; what is rounded is rounded up. */
static void a_wait_counts_by_its_square(void)
{
	static const struct {
		uint64_t us, low, high;
	} rows[] = {
		{ 1, 1, 1 },
		{ 999, 1, 1 },
		{ 1000, 1, 1 },
		{ 2000, 4, 4 },
		{ 65535, 4295, 4295 },
		{ 65536, 4295, 4431 },
		{ 1000000, 1000000, 1003000 },
		{ 24 * 3600 * 1000000ULL, 7464960000000000, 7464961000000000 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t ms2 = one_wait(rows[i].us);

		if (!CHECK(ms2 >= rows[i].low && ms2 <= rows[i].high))
			printf("# %" PRIu64 " us: %" PRIu64 "\n", rows[i].us, ms2);
	}
}

static void each_event_has_its_counter(void)
{
	const struct evoffcpu all = { .total = true, .reasons = (1U << OFFCPU_REASON_COUNT_) - 1 };
	struct offcpu_squares squares[OFFCPU_REASON_COUNT_ + 1];
	struct driver_stats stats = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(squares); i++)
		squares[i] = (struct offcpu_squares){ .of_short = (i + 1) * 1000000 };
	offcpu_stats_squares(&all, squares, &stats);
	CHECK_EQ(stats.offcpu_squares, 1);
	CHECK_EQ(stats.offcpu_squares_lock, 2);
	CHECK_EQ(stats.offcpu_squares_io, 3);
	CHECK_EQ(stats.offcpu_squares_sleep, 4);
	CHECK_EQ(stats.offcpu_squares_queue, 5);
	CHECK_EQ(stats.offcpu_squares_fault, 6);
	CHECK_EQ(stats.offcpu_squares_idle, 7);
	CHECK(!counter_of_waits("TIMER"));
	CHECK(!counter_of_waits("OFFCPU_X"));
}

TESTS(T(a_wait_counts_by_its_square), T(each_event_has_its_counter))
