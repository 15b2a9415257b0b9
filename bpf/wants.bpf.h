/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to user space that a thread of their own waits for: the chains through an image end
 * there until it is answered. Each is sent once in a round. */
#pragma once

#include "maps.bpf.h"

/* Locks: as those of other rings. */
struct wants {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
} event_wants SEC(".maps"), switch_wants SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, SAMPLE_CHAIN_SLOTS);
	__array(values, struct wants);
} wants SEC(".maps") = {
	.values = {
		[SAMPLE_SLOT_EVENT] = &event_wants,
		[SAMPLE_SLOT_SWITCH] = &switch_wants,
	},
};

/* The requests of each place (run_place()) in this round, in the position that the hash of what
 * they are about selects. A request that another one has replaced is repeated. */
enum { WANTED_SHIFT = 8 };

struct wanted {
	__u64 about[2];	     /* a struct sample_file, or the start and version of memory */
	__u32 round, tables; /* as in control, when it was requested */
};
struct wanted_all {
	struct wanted all[1 << WANTED_SHIFT];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct wanted_all);
	__uint(max_entries, 1);
} wanted SEC(".maps");

/* Notes that something is requested. NULL: it was in this round. */
static __always_inline struct wanted *want(const struct run *run, __u64 first, __u64 second)
{
	__u32 place = run->place, round = control.round, tables = control.tables;
	struct wanted_all *all = bpf_map_lookup_elem(&wanted, &place);
	struct wanted *w;

	if (!all)
		return NULL;
	w = &all->all[mix(mix(0, first), second) >> (64 - WANTED_SHIFT)];
	if (w->round == round && w->tables == tables && w->about[0] == first &&
	    w->about[1] == second)
		return NULL;
	*w = (struct wanted){ { first, second }, round, tables };
	return w;
}

/* Sends the request @message of @bytes, which is noted in @w. */
static __always_inline void send_want(struct run *run, struct wanted *w, void *message, __u64 bytes)
{
	void *ring = bpf_map_lookup_elem(&wants, &run->slot);

	if (ring && !bpf_ringbuf_output(ring, message, bytes, BPF_RB_FORCE_WAKEUP))
		return;
	run->totals->ring_full++;
	w->round = 0;
}
