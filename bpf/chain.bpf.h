/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The callers of a sample. The sample's key has only the number of its callers, a hash of them; the
 * callers themselves are sent to user space when they are seen together for the first time.
 */
#pragma once

#include "arch.bpf.h"
#include "chain_kernel.bpf.h"
#include "chain_user.bpf.h"
#include "maps.bpf.h"
#include "unwinding.bpf.h"

/* The numbers of the chains that user space has been sent; they contain the slot. Locks: changed by
 * the programs of its slot and by system calls, which no program of the slot interrupts. */
struct known_chains {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u64);
	__type(value, __u32);
	__uint(max_entries, 1);
} event_chains SEC(".maps"), switch_chains SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, SAMPLE_CHAIN_SLOTS);
	__array(values, struct known_chains);
} chains SEC(".maps") = {
	.values = {
		[SAMPLE_SLOT_EVENT] = &event_chains,
		[SAMPLE_SLOT_SWITCH] = &switch_chains,
	},
};

/* Makes sure that user space has the chain. Returns false, and counts it, if there is no room. */
static __always_inline bool send_chain(struct run *run, struct sample_chain *chain)
{
	void *sent = bpf_map_lookup_elem(&chains, &run->slot);
	__u32 known = 1;

	if (sent && bpf_map_lookup_elem(sent, &chain->id))
		return true;
	if (sent && !bpf_map_update_elem(sent, &chain->id, &known, BPF_ANY)) {
		if (send(run->slot, chain, offsetof(struct sample_chain, data) + chain->words * 8,
			 sizeof(*chain)))
			return true;
		bpf_map_delete_elem(sent, &chain->id);
	}
	run->totals->chain_full += run->loss;
	return false;
}

static __always_inline void chain_begin(struct run *run, struct unwinding *u)
{
	struct sample_chain *chain = &u->chain;

	u->place = run->place;
	chain->kind = SAMPLE_CHAIN;
	chain->tgid = run->scratch->key.tgid;
	chain->id = u->waits;
	chain->kernel_count = 0;
	chain->words = 0;
	u->left = config.depth - 1;
}

static __always_inline void chain_finish(struct run *run, struct unwinding *u)
{
	struct sample_chain *chain = &u->chain;

	chain->end = (__u16)u->end;
	chain->id = sample_chain_id(mix(chain->id, u->end), run->slot);
	if (send_chain(run, chain))
		run->scratch->key.chain = chain->id;
}

/* Finds the callers of a sample and fills in their number in its key. */
static __always_inline void place_chain(struct perf_event_context *context, struct run *run)
{
	__u32 slot = SAMPLE_SLOT_EVENT;
	struct unwinding *u = bpf_map_lookup_elem(&unwindings, &slot);

	if (!u)
		return;
	chain_begin(run, u);
	if (!registers_in_user(&context->registers))
		chain_kernel(u, bpf_get_stack(context, u->chain.data, CHAIN_KERNEL_BYTES, 0), 0);
	u->end = CHAIN_END_COMPLETE;
	if (!(run->task->flags & KERNEL_THREAD)) {
		begin_user(run, u, &context->registers);
		chain_user(run, u);
	}
	chain_finish(run, u);
}
