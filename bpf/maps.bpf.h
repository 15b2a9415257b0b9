/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sampling program keeps between its runs, and what one run works with. How many entries
 * a map has is up to the driver, but where a comment says so.
 */
#pragma once

#include "kernel.bpf.h"
#include "sample.h"
#include "vma.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

const volatile struct sample_config config SEC(".rodata.config");
struct sample_control control SEC(".data.control") = { .round = 1 };

/* What is counted in even rounds, at one place after the other, then that of odd ones. Only one CPU
 * writes at a place, so that nobody has to wait, and keys stand in the order in which they came:
 * the reader has no empty slots to look at. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sample_count);
	__uint(max_entries, 1);
} counts SEC(".maps");

/* Where the counts of a key are, by a hash of it; as many as config.key_slots at each place. What
 * is of another round is free. */
struct key_slot {
	__u32 round;
	__u32 at;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct key_slot);
	__uint(max_entries, 1);
} key_slots SEC(".maps");

/* What is known of a file whose path has been told. */
struct known_image {
	__u32 is_memory; /* to be treated as memory without a file */
};

/* Files whose paths have been told; the least recently used are told again when they come back. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct sample_file);
	__type(value, struct known_image);
	__uint(max_entries, 16384);
} images SEC(".maps");

/* Messages to the reader, enum sample_message_kind. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct sample_counters);
	__uint(max_entries, 1);
} counters SEC(".maps");

/* By CPU, as many as there can be, of one sample_slot after the other. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sample_gate);
	__uint(max_entries, 1);
} gates SEC(".maps");

/* A mapping. */
struct mapping {
	__u64 start, end;
	__u64 offset; /* of start, in image or region */
	union {
		struct sample_file file;
		struct sample_region region;
	} image;
	__u32 place; /* enum sample_place */
	__u32 table; /* its number, or in the place of one */
};

enum { MAPPINGS = 4 };

/* Those of a process that were looked up, see mapping.h. */
struct mappings {
	__u64 mm, started_ns, execs; /* whose they are, with ->tgid: no two processes have all */
	__u32 tgid;
	__u32 sequence;	     /* as the process's own; odd where that has not been compared */
	__u32 round, tables; /* as in control */
	__u32 next;	     /* to be replaced */
	__u32 result;	     /* enum vma_result of the last that was looked up */
	__u64 fences;
	__u64 exe_file;
	struct sample_file app; /* what that is */
	struct mapping all[MAPPINGS];
};

/* Too big for the stack. A program of a perf event is never interrupted by another on its CPU. By
 * enum sample_slot. */
struct scratch {
	struct sample_key key;
	__u32 memory; /* a caller is in code without a file */
	__u32 tables; /* control.tables before the gate was passed */
	struct mappings mappings;
	__u64 node[MAPLE_WORDS];
	struct sample_image image;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct scratch);
	__uint(max_entries, 1);
} scratches SEC(".maps");

/* What a run of the program works with. */
struct run {
	struct task_struct *task;
	struct scratch *scratch;
	struct sample_counters *totals;
	struct sample_gate *gate;
	__u32 place;
	__u64 weight; /* samples that this one stands for, or microseconds */
	__u64 loss;   /* what is counted where it is lost */
};

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/* Puts a message into the ring; the reader is woken when much is in it. 0 or -EAGAIN. */
static __always_inline long tell(void *message, __u64 bytes)
{
	__u64 flags = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > config.wake_at_bytes
			      ? BPF_RB_FORCE_WAKEUP
			      : BPF_RB_NO_WAKEUP;

	return bpf_ringbuf_output(&ring, message, bytes, flags);
}

/* The number of the program's place on this CPU, in what is by CPU and slot. */
static __always_inline __u32 run_place(enum sample_slot slot)
{
	return slot * config.cpus + bpf_get_smp_processor_id();
}

/* Finds what a run works with, in the place of its kind; false if there is none. */
static __always_inline bool run_begin(struct run *run, enum sample_slot slot)
{
	__u32 which = slot;

	run->task = bpf_get_current_task_btf();
	run->place = run_place(slot);
	run->gate = bpf_map_lookup_elem(&gates, &run->place);
	run->scratch = bpf_map_lookup_elem(&scratches, &which);
	run->totals = bpf_map_lookup_elem(&counters, &which);
	if (!run->gate || !run->scratch || !run->totals)
		return false;
	run->scratch->memory = 0;
	run->scratch->tables = *(volatile __u32 *)&control.tables;
	return true;
}

/* Around what counts: whoever begins another round waits until each CPU has passed its gates. What
 * was read before it was read before what is read behind it: that takes the sum to be looked at, or
 * the addition is one that orders nothing. */
static __always_inline void pass_gate(struct run *run)
{
	__u64 passes = __sync_fetch_and_add(&run->gate->passes, 1);

	asm volatile("" ::"r"(passes));
}
