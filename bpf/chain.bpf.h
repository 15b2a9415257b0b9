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

/* The numbers of the chains that user space has been sent. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u64);
	__type(value, __u32);
	__uint(max_entries, 1);
} chains SEC(".maps");

/* Makes sure that user space has the chain. Returns false, and counts it, if there is no room. */
static __always_inline bool send_chain(struct run *run, struct sample_chain *chain)
{
	__u32 known = 1, words = chain->words;

	if (bpf_map_lookup_elem(&chains, &chain->id))
		return true;
	if (words > SAMPLE_CHAIN_WORDS)
		words = SAMPLE_CHAIN_WORDS;
	if (!bpf_map_update_elem(&chains, &chain->id, &known, BPF_ANY)) {
		if (!send(chain, offsetof(struct sample_chain, data) + words * 8))
			return true;
		bpf_map_delete_elem(&chains, &chain->id);
	}
	run->totals->chain_full += run->loss;
	return false;
}

static __always_inline void chain_begin(struct run *run, struct unwinding *u, enum sample_slot slot)
{
	struct sample_chain *chain = &u->chain;

	u->place = run_place(slot);
	chain->kind = SAMPLE_CHAIN;
	chain->tgid = run->scratch->key.tgid;
	chain->id = 0;
	chain->kernel_count = 0;
	chain->words = 0;
	u->left = config.depth - 1;
}

static __always_inline void chain_finish(struct run *run, struct unwinding *u)
{
	struct sample_chain *chain = &u->chain;

	chain->end = (__u16)u->end;
	chain->id = mix(chain->id, u->end) | 1;
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
	chain_begin(run, u, SAMPLE_SLOT_EVENT);
	if (!registers_in_user(&context->registers))
		chain_kernel(u, bpf_get_stack(context, u->chain.data, CHAIN_KERNEL_BYTES, 0), 0);
	u->end = CHAIN_END_COMPLETE;
	if (!(run->task->flags & KERNEL_THREAD)) {
		begin_user(run, u, &context->registers);
		chain_user(run, u);
	}
	chain_finish(run, u);
}
