/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how long tasks are off the CPU. When a task leaves its CPU, its place is looked up and
 * kept; when it comes back, the microseconds in between are counted there.
 */
#pragma once

#include "chain.bpf.h"
#include "count.bpf.h"
#include "follow.bpf.h"
#include "place.bpf.h"
#include "place_app.bpf.h"
#include "waker.bpf.h"

/* Preallocated: the scheduler holds a lock that an allocation might need. Locks: changed by
 * offcpu_switch and by system calls, which hold them with interrupts off. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, struct sample_left);
	__uint(max_entries, 1);
} left SEC(".maps");

/* How many words of a stack to search for the scheduler's caller. */
enum { SCHED_WORDS = 32 };

enum { REASON_MASK = SAMPLE_OFFCPU_REASONS - 1 };

/* Operations of futex(2), without the bit that names the clock: linux/futex.h. */
enum { FUTEX_KIND = 0xff, FUTEX_JOINS = 9 /* FUTEX_WAIT_BITSET */ };

static __always_inline bool in_scheduler(__u64 address)
{
	return address >= config.sched_start && address < config.sched_end;
}

/* The index in the stack of the scheduler's caller; 0 if it is not found. */
static __always_inline __u32 caller_of_scheduler(const __u64 *stack, long bytes)
{
	bool inside = false;
	__u32 i;

	for (i = 0; i < SCHED_WORDS && (i + 1) * 8 <= bytes; i++) {
		if (in_scheduler(stack[i]))
			inside = true;
		else if (inside)
			return i;
	}
	return 0;
}

/* The place of a task without user space: where it called the scheduler. */
static __noinline int leave_kernel(void *context, struct run *run, struct unwinding *u)
{
	__u32 leaf;
	long bytes;

	if (!run || !u)
		return 0;
	bytes = bpf_get_stack(context, u->chain.data, CHAIN_KERNEL_BYTES, 0);
	leaf = caller_of_scheduler(u->chain.data, bytes) & (SCHED_WORDS - 1);
	run->scratch->key.place = SAMPLE_KERNEL;
	run->scratch->key.offset = bytes > 0 ? u->chain.data[leaf] : 0;
	/* The scheduler's caller becomes the first caller, and the waker gets its place. If it is
	 * not found, the waker would get the only place there is. */
	if (!leaf)
		u->chain.id = u->waits = 0;
	if (config.depth) {
		chain_kernel(u, bytes, leaf - u->waits);
		u->end = run->task->flags & KERNEL_THREAD ? CHAIN_END_COMPLETE : CHAIN_END_NO_USER;
		chain_finish(run, u);
	}
	return note_moment(run, SAMPLE_SLOT_SWITCH);
}

/* place_user() with its own stack frame: see keep(). */
static __noinline int place_left(struct run *run, __u64 address)
{
	return run && place_user(run, address);
}

/* The place of any other task: where it entered the kernel. Returns false, and counts it, if that
 * is in no mapping. */
static __always_inline bool leave_user(struct run *run, struct unwinding *u)
{
	u->frame = (struct unwind_frame){ .exact = 1, .first = 1 };
	u->append = u->waits;
	registers_to_frame(&u->saved, &u->frame, u->registers);
	registers_to_system_call(&u->saved, &u->frame);
	if (!place_left(run, u->frame.pc))
		return false;
	if (config.depth) {
		chain_user(run, u);
		/* Like a return address, which those of callers are. */
		u->chain.data[0] += u->waits;
		chain_finish(run, u);
	}
	return true;
}

static __always_inline bool has_user(const struct run *run, struct unwinding *u)
{
	return !(run->task->flags & KERNEL_THREAD) && run->task->mm &&
	       !bpf_probe_read_kernel(&u->saved, sizeof(u->saved),
				      (void *)bpf_task_pt_regs(run->task)) &&
	       u->saved.ip && registers_in_user(&u->saved);
}

/* Keeps the key of the current task until it comes back. Not inlined, like everything here that is
 * not part of the stack walk: the stack frames of the walk, which is deep, and of its callers may
 * not exceed 512 bytes together. */
static __noinline int keep(struct run *run, bool waits)
{
	struct sample_left place;

	if (!run)
		return 0;
	if (waits)
		expect_waker(&run->scratch->key);
	place.since_ns = bpf_ktime_get_ns();
	place.key = run->scratch->key;
	/* Occasionally the kernel switches to a task without calling the tracepoint. */
	if (bpf_map_lookup_elem(&left, &place.key.tid))
		run->totals->unwatched++;
	if (bpf_map_update_elem(&left, &place.key.tid, &place, BPF_ANY))
		run->totals->unwatched++;
	return 0;
}

static __always_inline __u32 task_state(const struct task_struct *task)
{
	return BPF_CORE_READ(task, __state);
}

/* Whether a thread waits for the end of another one: pthread_join() waits for a word that the
 * kernel clears, and so may not use a private futex, as condition variables do. The word has the
 * thread's number; that of a semaphore that processes share, which is waited for alike, is 0. */
static __always_inline bool joins(const struct cpu_registers *r, __s64 call)
{
	return (__u64)call == config.futex && (second_argument(r) & FUTEX_KIND) == FUTEX_JOINS &&
	       (__u32)third_argument(r);
}

/* The reason of a wait in a system call; false if the call says nothing about it. */
static __always_inline bool reason_of_call(const struct run *run, const struct unwinding *u,
					   __u32 *ret)
{
	__s64 call = system_call_of(run->task, &u->saved);
	__u8 known;

	if (call < 0) {
		*ret = OFFCPU_FAULT;
		return true;
	}
	known = call < SAMPLE_CALLS_MAX ? config.offcpu_calls[call & (SAMPLE_CALLS_MAX - 1)] : 0;
	*ret = joins(&u->saved, call) ? OFFCPU_IDLE : (__u32)known - 1;
	return known;
}

/* Why the current task leaves its CPU. @user: u->saved has its registers in user space. */
static __noinline __u32 reason_of(const struct run *run, const struct unwinding *u, bool preempted,
				  bool user)
{
	const struct task_struct *task;
	__u32 state, reason;

	if (!run || !u)
		return OFFCPU_SLEEP;
	task = run->task;
	state = task_state(task);
	if (preempted || !state)
		return OFFCPU_QUEUE;
	/* Wherever a signal or a debugger stopped it. */
	if (state & TASK_STOPPED_OR_TRACED)
		return OFFCPU_SLEEP;
	if (BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait))
		return OFFCPU_IO;
	if (user && reason_of_call(run, u, &reason))
		return reason;
	if ((state & (TASK_SLEEPS_DEEPLY | TASK_NO_LOAD)) == TASK_SLEEPS_DEEPLY)
		return OFFCPU_LOCK;
	return task->flags & KERNEL_THREAD ? OFFCPU_IDLE : OFFCPU_SLEEP;
}

/* Looks up the place of the current task, which leaves its CPU. */
static __always_inline void leave(void *context, struct run *run, struct unwinding *u,
				  bool preempted)
{
	__u64 ids = bpf_get_current_pid_tgid();
	struct sample_key *key = &run->scratch->key;
	__u32 reason;
	bool user;
	__u8 event;

	*key = (struct sample_key){ .tgid = ids >> 32, .tid = (__u32)ids };
	if (is_filtered(key->tgid))
		return;
	user = has_user(run, u);
	reason = reason_of(run, u, preempted, user);
	u->waits = config.wakers && reason != OFFCPU_QUEUE;
	event = config.offcpu_events[reason & REASON_MASK];
	if (!event) {
		/* Its last return was not seen if it is still there. */
		if (!bpf_map_delete_elem(&left, &key->tid))
			run->totals->unwatched++;
		return;
	}
	key->counter = event - 1;
	if (config.cgroups)
		key->cgroup = (__u32)bpf_get_current_cgroup_id();
	if (config.comms)
		bpf_get_current_comm(key->comm, SAMPLE_COMM_BYTES);
	(void)mappings_begin(run);
	place_app(run);
	chain_begin(run, u);
	if (!user)
		(void)leave_kernel(context, run, u);
	else if (!leave_user(run, u))
		return;
	mappings_end(run);
	(void)keep(run, u->waits);
}

/* Counts the time that task @tid was off the CPU until now. */
static __noinline int come_back(struct run *run, __u32 tid)
{
	struct sample_left *place = bpf_map_lookup_elem(&left, &tid);
	__u32 event;
	__u64 us;

	if (!run || !place)
		return 0;
	us = (bpf_ktime_get_ns() - place->since_ns + 500) / 1000;
	run->scratch->key = place->key;
	run->scratch->key.cpu = (__u16)bpf_get_smp_processor_id();
	event = place->key.counter & (SAMPLE_OFFCPU_EVENTS - 1);
	run->scratch->key.counter += (__u8)(control.offcpu - 1);
	fill_waker(&run->scratch->key);
	bpf_map_delete_elem(&left, &tid);
	if (us < config.offcpu_min_us)
		return 0;
	run->totals->received++;
	offcpu_square(&run->totals->waits[event], us);
	run->weight = us;
	count(run);
	return 0;
}

SEC("raw_tp/sched_switch")
int offcpu_switch(__u64 *context)
{
	__u32 slot = SAMPLE_SLOT_SWITCH, next;
	struct unwinding *u = bpf_map_lookup_elem(&unwindings, &slot);
	struct run run;

	if (!*(volatile __u32 *)&control.offcpu || !u || !run_begin(&run, SAMPLE_SLOT_SWITCH))
		return 0;
	/* Intervals that cannot be attributed count as one each, not by their time. */
	run.weight = run.loss = 1;
	pass_gate(&run);
	/* Tasks that have ended are not measured, nor is the idle task. */
	if (run.task->pid && !(task_state(run.task) & TASK_DEAD))
		leave(context, &run, u, context[0]);
	else
		(void)forget_waker(run.task);
	next = BPF_CORE_READ((struct task_struct *)context[2], pid);
	if (next)
		(void)come_back(&run, next);
	pass_gate(&run);
	return 0;
}
