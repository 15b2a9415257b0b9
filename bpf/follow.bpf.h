/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs that keep the table of followed processes, if only a process and its descendants are
 * sampled. */
#pragma once

#include "maps.bpf.h"

/* The processes that are followed: tgid to enum sample_follow. Locks: as those of "executables". */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 65536);
} followed SEC(".maps");

/* Returns whether the process is not to be sampled. */
static __always_inline bool is_filtered(__u32 tgid)
{
	const __u32 *state;

	if (!config.follow)
		return false;
	state = bpf_map_lookup_elem(&followed, &tgid);
	return !state || *state == SAMPLE_FOLLOW_WAITING;
}

SEC("raw_tp/sched_process_fork")
int follow_fork(__u64 *context)
{
	struct task_struct *parent = (void *)context[0], *child = (void *)context[1];
	__u32 from = BPF_CORE_READ(parent, tgid), to = BPF_CORE_READ(child, tgid), zero = 0;
	struct sample_counters *totals = bpf_map_lookup_elem(&counters, &zero);
	__u32 *state = bpf_map_lookup_elem(&followed, &from), copy;

	if (from == to)
		return 0;
	/* The number may have belonged to an exited process. */
	bpf_map_delete_elem(&followed, &to);
	if (!state)
		return 0;
	copy = *state;
	if (bpf_map_update_elem(&followed, &to, &copy, BPF_ANY) == 0)
		__sync_fetch_and_add(&control.followed, 1);
	else if (totals)
		__sync_fetch_and_add(&totals->follow_full, 1);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int follow_exec(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	__u32 tgid = BPF_CORE_READ(task, tgid);
	__u32 *state = bpf_map_lookup_elem(&followed, &tgid);

	if (state)
		__sync_val_compare_and_swap(state, SAMPLE_FOLLOW_WAITING, SAMPLE_FOLLOW_ON);
	return 0;
}

SEC("raw_tp/sched_process_exit")
int follow_exit(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	__u32 tgid = BPF_CORE_READ(task, tgid), *state = bpf_map_lookup_elem(&followed, &tgid);
	__u32 before;

	if (!state || BPF_CORE_READ(task, signal, live.counter))
		return 0;
	/* The last two threads may get here at the same time. */
	before = *state;
	if (before != SAMPLE_FOLLOW_LEAVING &&
	    __sync_val_compare_and_swap(state, before, SAMPLE_FOLLOW_LEAVING) == before)
		__sync_fetch_and_sub(&control.followed, 1);
	return 0;
}

SEC("raw_tp/sched_process_free")
int follow_free(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	__u32 tgid = BPF_CORE_READ(task, tgid), *state;

	if (tgid != (__u32)BPF_CORE_READ(task, pid))
		return 0;
	state = bpf_map_lookup_elem(&followed, &tgid);
	if (state && *state == SAMPLE_FOLLOW_LEAVING)
		bpf_map_delete_elem(&followed, &tgid);
	return 0;
}
