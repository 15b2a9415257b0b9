/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/offcpu_left.h"

#include "base/clock.h"
#include "bpf/sample.h"
#include "driver/bpf/sampler_handler.h"

#include <bpf/bpf.h>

/* Who woke a task is counted when the task runs again, which is not seen any more. The next
 * measurement would take it for who ended another wait. */
static void forget_wakers(int map)
{
	uint32_t tid;

	while (bpf_map_get_next_key(map, NULL, &tid) == 0)
		if (bpf_map_delete_elem(map, &tid) < 0)
			break;
}

size_t offcpu_left_take(const struct offcpu_left *from, uint32_t counter,
			const struct sampler_handler *h, struct offcpu_squares *squares)
{
	const uint64_t now_ns = clock_now_ns() + 500 /* rounds */, min_ns = 1000 * from->min_us;
	struct sample_left left;
	size_t count = 0;
	uint32_t tid;

	while (bpf_map_get_next_key(from->left, NULL, &tid) == 0) {
		if (!bpf_map_lookup_elem(from->left, &tid, &left) &&
		    now_ns >= left.since_ns + min_ns) {
			uint64_t us = (now_ns - left.since_ns) / 1000;

			offcpu_square(&squares[left.key.counter % SAMPLE_OFFCPU_EVENTS], us);
			left.key.counter = (uint8_t)(left.key.counter + counter);
			count++;
			h->sample(&left.key, h->number(left.key.chain, h->data), us, h->data);
		}
		if (bpf_map_delete_elem(from->left, &tid) < 0)
			break;
	}
	forget_wakers(from->wakers);
	return count;
}
