/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The key of a run is counted in the map that is written to. */
#pragma once

#include "maps.h"

/* Counts the key in @map, the one with the number @which. */
static __always_inline void count_in(void *map, __u32 which, struct run *run)
{
	__u64 *count = bpf_map_lookup_elem(map, &run->scratch->key);
	long r;

	if (!count) {
		r = bpf_map_update_elem(map, &run->scratch->key, &run->weight, BPF_NOEXIST);
		if (r == 0) {
			if (__sync_fetch_and_add(&control.used[which], 1) == config.wake_at) {
				__u32 wake = SAMPLE_WAKE;

				bpf_ringbuf_output(&ring, &wake, sizeof(wake), BPF_RB_FORCE_WAKEUP);
			}
			return;
		}
		/* Another CPU made it meanwhile, or there is no room. */
		count = bpf_map_lookup_elem(map, &run->scratch->key);
	}
	if (count)
		__sync_fetch_and_add(count, run->weight);
	else
		run->totals->map_full += run->loss;
}

static __always_inline bool in_memory(const struct run *run)
{
	__u32 place = run->scratch->key.place;

	return run->scratch->memory || place == SAMPLE_ANON || place == SAMPLE_HEAP ||
	       place == SAMPLE_STACK;
}

/* Counts the key by its weight. */
static __always_inline void count(struct run *run)
{
	volatile __u32 *memory = &control.memory;

	if (*(volatile __u32 *)&control.active)
		count_in(&counts_1, 1, run);
	else
		count_in(&counts_0, 0, run);
	/* Afterwards: the reader takes it back before the map is another. */
	if (in_memory(run) && !*memory)
		*memory = 1;
}
