/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/clock.h"
#include "bpf/sample.h"
#include "driver/bpf/offcpu_left.h"
#include "driver/bpf/sampler_handler.h"

#include <bpf/bpf.h>

enum { ENTRIES = 100, WAKER_BYTES = 20, COUNTER = 3, LONG_US = 5000000, MIN_US = 1000000 };

static int make_map(uint32_t value_bytes)
{
	return bpf_map_create(BPF_MAP_TYPE_HASH, NULL, sizeof(uint32_t), value_bytes, ENTRIES,
			      NULL);
}

/* Tasks 1 to @count; every other one has hardly begun to wait. */
static void fill_left(int map, uint32_t count)
{
	uint32_t tid;

	for (tid = 1; tid <= count; tid++) {
		struct sample_left left = { .key = { .tid = tid }, .since_ns = clock_now_ns() };

		left.since_ns -= tid % 2 ? 0 : 1000ULL * LONG_US;
		CHECK_EQ(bpf_map_update_elem(map, &tid, &left, BPF_ANY), 0);
	}
}

static void fill_wakers(int map, uint32_t first, uint32_t count)
{
	const char waker[WAKER_BYTES] = "waker";
	uint32_t tid;

	for (tid = first; tid < first + count; tid++)
		CHECK_EQ(bpf_map_update_elem(map, &tid, waker, BPF_ANY), 0);
}

static bool is_empty(int map)
{
	uint32_t tid;

	return bpf_map_get_next_key(map, NULL, &tid) < 0;
}

static void count_sample(const struct sample_key *key, uint32_t callers, uint64_t us, void *data)
{
	CHECK_EQ(key->counter, COUNTER);
	CHECK_EQ(key->tid % 2, 0);
	CHECK_EQ(callers, 7);
	CHECK(us >= LONG_US);
	++*(size_t *)data;
}

static uint32_t number_of(uint64_t chain _unused_, void *data _unused_)
{
	return 7;
}

/* Wakers of tasks that wait, and of others: the next measurement must know none of them. */
static void the_end_of_a_measurement_empties_its_maps(void)
{
	_cleanup_close_ int left = make_map(sizeof(struct sample_left));
	_cleanup_close_ int wakers = make_map(WAKER_BYTES);
	const struct offcpu_left from = { .left = left, .wakers = wakers, .min_us = MIN_US };
	struct offcpu_squares squares[SAMPLE_OFFCPU_EVENTS] = { 0 };
	size_t counted = 0;
	const struct sampler_handler h = { .sample = count_sample,
					   .number = number_of,
					   .data = &counted };

	if (left < 0 || wakers < 0)
		SKIP("a BPF map cannot be made here");
	fill_left(left, 10);
	fill_wakers(wakers, 6, ENTRIES);
	CHECK_EQ(offcpu_left_take(&from, COUNTER, &h, squares), 5);
	CHECK_EQ(counted, 5);
	CHECK(squares[0].of_long || squares[0].of_short);
	CHECK(is_empty(left));
	CHECK(is_empty(wakers));
	CHECK_EQ(offcpu_left_take(&from, COUNTER, &h, squares), 0);
}

static void wakers_are_forgotten_if_nobody_waits(void)
{
	_cleanup_close_ int left = make_map(sizeof(struct sample_left));
	_cleanup_close_ int wakers = make_map(WAKER_BYTES);
	const struct offcpu_left from = { .left = left, .wakers = wakers };
	const struct sampler_handler h = { .sample = count_sample, .number = number_of };

	if (left < 0 || wakers < 0)
		SKIP("a BPF map cannot be made here");
	fill_wakers(wakers, 1, ENTRIES);
	CHECK_EQ(offcpu_left_take(&from, COUNTER, &h, NULL), 0);
	CHECK(is_empty(wakers));
}

TESTS(T(the_end_of_a_measurement_empties_its_maps), T(wakers_are_forgotten_if_nobody_waits))
