/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a call chain that is in the kernel, which the kernel's own unwinder found. */
#pragma once

#include "maps.bpf.h"
#include "place.bpf.h"
#include "unwinding.bpf.h"

enum { CHAIN_KERNEL_BYTES = (SAMPLE_KERNEL_MAX + 1) * 8 };

/* Keeps the callers from the stack that bpf_get_stack() has written to the chain's data. The
 * address at index @leaf is the sample itself, the callers follow it. */
static __always_inline void chain_kernel(struct unwinding *u, long bytes, __u32 leaf)
{
	struct sample_chain *chain = &u->chain;
	__u32 count = bytes > 0 ? (__u32)bytes / 8 : 0, i;

	leaf &= SAMPLE_KERNEL_MAX;
	if (count <= leaf + 1)
		return;
	count -= leaf + 1;
	if (count > SAMPLE_KERNEL_MAX)
		count = SAMPLE_KERNEL_MAX;
	if (count > u->left)
		count = u->left;
	for (i = 0; i < SAMPLE_KERNEL_MAX && i < count; i++) {
		__u64 word = chain->data[i + leaf + 1];

		chain->data[i] = word;
		chain->id = mix(chain->id, word);
	}
	chain->kernel_count = (__u16)count;
	chain->words = count;
	u->left -= count;
}

/* Whether a caller in the kernel is in code that may be replaced. */
__noinline int is_chain_passing(__u32 slot)
{
	const struct unwinding *u = bpf_map_lookup_elem(&unwindings, &slot);
	__u32 i;

	for (i = 0; u && i < SAMPLE_KERNEL_MAX && i < u->chain.kernel_count; i++)
		if (is_passing(u->chain.data[i]))
			return 1;
	return 0;
}

/* Adds the time to the key of a sample in, or called from, kernel code that may be replaced: from
 * the time user space finds out which code it was. */
static __noinline int note_moment(struct run *run, __u32 slot)
{
	if (!run)
		return 0;
	if (is_passing(run->scratch->key.offset) || is_chain_passing(slot))
		run->scratch->key.image.moment.at_ns = bpf_ktime_get_ns();
	return 0;
}
