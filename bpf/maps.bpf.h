/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps of the sampling program, which keep data between its runs, and the data of one run.
 * Where max_entries is 1 the driver sets the number of entries before it loads the program.
 */
#pragma once

#include "kernel.bpf.h"
#include "sample.h"
#include "vma.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

const volatile struct sample_config config SEC(".rodata.config");
struct sample_control control SEC(".data.control") = { .round = 1 };

/* The counts: first those of even rounds, place by place, then those of odd rounds. Only one CPU
 * writes at a place, so nobody waits. Keys are stored in order of arrival, so the reader has no
 * empty slots to skip. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sample_count);
	__uint(max_entries, 1);
} counts SEC(".maps");

/* A hash table of the keys of each place, config.key_slots long. A slot of another round is free.
 */
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

/* What is known about a file whose path has been sent. */
struct known_image {
	__u32 is_memory; /* treated as memory without a file */
};

/* Files whose paths have been sent. The least recently used are dropped, and sent again when seen
 * again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct sample_file);
	__type(value, struct known_image);
	__uint(max_entries, 16384);
} images SEC(".maps");

/* Messages to user space, see enum sample_message_kind. */
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

/* Indexed by run_place(): for each sample_slot, all possible CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sample_gate);
	__uint(max_entries, 1);
} gates SEC(".maps");

/* A mapping of a process. */
struct mapping {
	__u64 start, end;
	__u64 offset; /* of ->start, in the file or the region */
	union {
		struct sample_file file;
		struct sample_region region;
	} image;
	__u32 place; /* enum sample_place */
	__u32 table; /* its number, or SAMPLE_TABLE_* */
};

enum { MAPPINGS = 4 };

/* The last mappings looked up, all of one process; see mapping.bpf.h. */
struct mappings {
	__u64 mm, started_ns, execs; /* with ->tgid these identify the process */
	__u32 tgid;
	__u32 sequence;	     /* the process's counter of changes; odd: not verified */
	__u32 round, tables; /* as in control */
	__u32 next;	     /* to be replaced next */
	__u32 result;	     /* enum vma_result of the last lookup */
	__u64 fences;
	__u64 exe_file;
	struct sample_file app; /* the identity of exe_file */
	struct mapping all[MAPPINGS];
};

/* Data too big for the stack, indexed by enum sample_slot. A perf event's program is never
 * interrupted by another one on the same CPU. */
struct scratch {
	struct sample_key key;
	__u32 memory; /* whether a caller is in code without a file */
	__u32 tables; /* control.tables, read before the gate */
	__u32 busy;   /* in SAMPLE_SLOT_PROCESS: in use, by a program that was preempted */
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

/* One run of the program. */
struct run {
	struct task_struct *task;
	struct scratch *scratch;
	struct sample_counters *totals;
	struct sample_gate *gate;
	__u32 place;
	__u64 weight; /* the number of samples that this one represents, or microseconds */
	__u64 loss;   /* the weight, but 1 for time off the CPU: losses of it count intervals */
};

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/* Sends a message to user space, which is woken when the ring is half full. 0 or -EAGAIN. */
static __always_inline long send(void *message, __u64 bytes)
{
	__u64 flags = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > config.wake_at_bytes
			      ? BPF_RB_FORCE_WAKEUP
			      : BPF_RB_NO_WAKEUP;

	return bpf_ringbuf_output(&ring, message, bytes, flags);
}

/* The index of this CPU and @slot in the maps that have an entry for each. */
static __always_inline __u32 run_place(enum sample_slot slot)
{
	return slot * config.cpus + bpf_get_smp_processor_id();
}

/* Looks up the data that a run in @slot uses; false if it is missing. */
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

/* Called before and after counting: user space begins another round and then waits until each CPU
 * has passed its gate. It is also a memory barrier, but only because the result of the addition is
 * used: without that the compiler emits one that orders nothing. */
static __always_inline void pass_gate(struct run *run)
{
	__u64 passes = __sync_fetch_and_add(&run->gate->passes, 1);

	asm volatile("" ::"r"(passes));
}
