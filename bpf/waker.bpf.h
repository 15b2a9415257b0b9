/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which task wakes another one up. The name of the waker is kept until the woken task is on a CPU
 * again, when its wait is counted: at the waker, which takes the place where the task left its CPU,
 * and this place becomes the first caller.
 */
#pragma once

#include "chain_kernel.bpf.h"
#include "follow.bpf.h"
#include "maps.bpf.h"
#include "unwinding.bpf.h"

struct waker {
	char comm[SAMPLE_COMM_BYTES];
	__u32 kind; /* enum sample_waker */
};

/* By the woken task's tid. Preallocated, as "left". The entry of a task that has left its CPU is
 * that of its last waking, because a later waking replaces an earlier one, also if the map is full.
 * Locks: changed by offcpu_waking and offcpu_switch, neither of which interrupts the other: see
 * maps.bpf.h. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, struct waker);
	__uint(max_entries, 1);
} wakers SEC(".maps");

/* The address of @pointer as a number, for a program with @task as the current task. The verifier
 * allows to subtract pointers, but nothing else. */
static __always_inline __u64 address_of(const void *pointer, const struct task_struct *task)
{
	__u64 distance = (__u64)pointer - (__u64)task;

	asm volatile("" : "+r"(distance));
	return distance + bpf_get_current_task();
}

/* Whether the program with this @context, which is on the stack, does not run on the stack of
 * @task: interrupts and softirqs have stacks of their own. What a task saved is at the top of its
 * stack. */
static __always_inline bool on_own_stack(const __u64 *context, struct task_struct *task)
{
	__u64 stack = (__u64)BPF_CORE_READ(task, stack);
	__u64 top = address_of((const void *)bpf_task_pt_regs(task), task);

	return address_of(context, task) - stack >= top - stack;
}

/* Whether @task was interrupted in user space, where x86 uses the task's stack. */
static __always_inline bool was_interrupted(__u64 *context, struct task_struct *task)
{
	__u32 slot = SAMPLE_SLOT_SWITCH, at;
	struct unwinding *u = bpf_map_lookup_elem(&unwindings, &slot);
	long bytes;

	if (!config.entry_end || task->flags & KERNEL_THREAD || !u ||
	    bpf_probe_read_kernel(&u->saved, sizeof(u->saved), (void *)bpf_task_pt_regs(task)) ||
	    system_call_of(task, &u->saved) >= 0)
		return false;
	bytes = bpf_get_stack(context, u->chain.data, CHAIN_KERNEL_BYTES, 0);
	if (bytes < 8)
		return false;
	/* The outermost function is the one that entered the kernel. */
	at = ((__u32)bytes / 8 - 1) & SAMPLE_KERNEL_MAX;
	return u->chain.data[at] >= config.entry_start && u->chain.data[at] < config.entry_end;
}

/* Who wakes a task now. The idle task does nothing but what an interrupt left. */
static __always_inline enum sample_waker kind_of_waker(__u64 *context)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!task->pid || on_own_stack(context, task) || was_interrupted(context, task))
		return SAMPLE_WAKER_INTERRUPT;
	return SAMPLE_WAKER_TASK;
}

/* Runs where a task wakes another one, also if that will run on another CPU. */
SEC("raw_tp/sched_waking")
int offcpu_waking(__u64 *context)
{
	struct task_struct *woken = (void *)context[0];
	__u32 tid = BPF_CORE_READ(woken, pid);
	struct waker waker = { 0 };

	if (!*(volatile __u32 *)&control.offcpu || is_filtered(BPF_CORE_READ(woken, tgid)))
		return 0;
	waker.kind = kind_of_waker(context);
	if (waker.kind == SAMPLE_WAKER_TASK)
		bpf_get_current_comm(waker.comm, SAMPLE_COMM_BYTES);
	(void)bpf_map_update_elem(&wakers, &tid, &waker, BPF_ANY);
	return 0;
}

/* Makes the waker, which is not known yet, the place of a key. */
static __always_inline void expect_waker(struct sample_key *key)
{
	key->offset = sample_key_moment(key) & ~(__u64)SAMPLE_WAKER_MASK;
	key->image.region = (struct sample_region){ 0 };
	key->place = SAMPLE_WAKER;
}

/* Fills in the waker of the task in @key, if it is to be the place. */
static __always_inline void fill_waker(struct sample_key *key)
{
	struct waker *waker;

	if (!config.wakers || key->place != SAMPLE_WAKER)
		return;
	waker = bpf_map_lookup_elem(&wakers, &key->tid);
	if (!waker) {
		key->offset |= SAMPLE_WAKER_UNKNOWN;
		return;
	}
	key->offset |= waker->kind & SAMPLE_WAKER_MASK;
	__builtin_memcpy(key->image.waker, waker->comm, SAMPLE_COMM_BYTES);
	bpf_map_delete_elem(&wakers, &key->tid);
}

/* Forgets who woke a task that has ended. */
static __noinline int forget_waker(const struct task_struct *task)
{
	__u32 tid = BPF_CORE_READ(task, pid);

	return config.wakers && bpf_map_delete_elem(&wakers, &tid);
}
