/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps of the sampling program, which keep data between its runs, and the data of one run.
 * Where max_entries is 1 the driver sets the number of entries before it loads the program.
 *
 * Programs interrupt each other, so a map may make none of them wait for the one that it
 * interrupted. They run in these contexts (Linux 6.1 to 6.18):
 * - SAMPLE_SLOT_EVENT: in an NMI (counters), a hard interrupt (clocks) or a task (software events).
 *   The kernel skips a run while its CPU is in another perf event's program or in a system call
 *   that changes a map (bpf_prog_active). So there is one run in this slot at a time on a CPU.
 * - SAMPLE_SLOT_SWITCH, and offcpu_waking: in the scheduler with interrupts off; only an NMI gets
 *   in between. A task that wakes itself, before it has left its CPU, is the exception: it only
 *   cannot be switched away from. If an interrupt then wakes another task, offcpu_waking does not
 *   run, because the kernel starts no program inside itself on a CPU; that costs a waker's name.
 * - SAMPLE_SLOT_PROCESS, and all that watch fork, exec, exit and free: in a task or a softirq. An
 *   NMI, an interrupt and the scheduler get in between, but nothing except an NMI while the kernel
 *   holds the lock of a map, because it holds these with interrupts off.
 * Reading a map takes no lock, nor does writing to an array. Adding to a hash table and deleting
 * from it takes a lock, and so does sending to a ring. In LRU tables it is a plain spin lock, on
 * which an NMI would wait forever. In other hash tables it fails if it is taken on this CPU. In
 * rings an NMI only tries it, but from Linux 6.15 to 6.18 may wait for 250 ms. So each slot has
 * tables and rings of its own: the holder of a lock is interrupted on its CPU only by programs that
 * never take it. A comment at each hash table and ring says who changes it.
 */
#pragma once

#include "kernel.bpf.h"
#include "path.bpf.h"
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

enum image_kind {
	IMAGE_FILE,
	IMAGE_NAMELESS, /* a memfd or the like */
	IMAGE_MEMORY,	/* treated as memory without a file */
};

/* What is known about a file whose path has been sent. */
struct known_image {
	__u32 kind; /* enum image_kind */
};

/* Files whose paths have been sent through the ring of the same slot. The least recently used are
 * dropped, and sent again when seen again. Locks: changed by the programs of its slot and by system
 * calls, which no program of the slot interrupts. */
struct known_images {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct sample_file);
	__type(value, struct known_image);
	__uint(max_entries, 1);
} event_images SEC(".maps"), switch_images SEC(".maps"), process_images SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, SAMPLE_SLOT_COUNT_);
	__array(values, struct known_images);
} images SEC(".maps") = {
	.values = {
		[SAMPLE_SLOT_EVENT] = &event_images,
		[SAMPLE_SLOT_SWITCH] = &switch_images,
		[SAMPLE_SLOT_PROCESS] = &process_images,
	},
};

/* Messages to user space, see enum sample_message_kind. Locks: sent by the programs of its slot
 * only; user space reads without the lock. */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1);
} event_ring SEC(".maps"), switch_ring SEC(".maps"), process_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, SAMPLE_SLOT_COUNT_);
	__array(values, struct ring);
} rings SEC(".maps") = {
	.values = {
		[SAMPLE_SLOT_EVENT] = &event_ring,
		[SAMPLE_SLOT_SWITCH] = &switch_ring,
		[SAMPLE_SLOT_PROCESS] = &process_ring,
	},
};

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
	__u32 place;	   /* enum sample_place */
	__u32 table;	   /* its number, or SAMPLE_TABLE_* */
	__u32 interpreter; /* as in struct sample_table */
	__u32 reserved;
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

/* Data too big for the stack, indexed by enum sample_slot. */
struct scratch {
	struct sample_key key;
	__u32 memory;  /* whether a caller is in code without a file */
	__u32 tables;  /* control.tables, read before the gate */
	__u32 busy;    /* in SAMPLE_SLOT_PROCESS: in use, by a program that was preempted */
	__u64 woke_ns; /* when user space was woken for a file last */
	__u32 is_held; /* whether it is still to be woken for another one */
	struct mappings mappings;
	struct maple_node node;
	struct path_walk walk;
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
	__u32 slot;
	__u32 place;	/* run_place() of ->slot */
	__u64 weight;	/* the number of samples that this one represents, or microseconds */
	__u64 loss;	/* the weight, but 1 for time off the CPU: losses of it count intervals */
	__u32 executes; /* SAMPLE_SLOT_PROCESS: ->task begins to run another program */
};

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/* Sends a message of at most @max bytes to user space, which is woken when the ring of the slot is
 * half full. Returns whether there was room. */
static __always_inline bool send(__u32 slot, void *message, __u64 bytes, __u64 max)
{
	void *ring = bpf_map_lookup_elem(&rings, &slot);
	__u64 flags = BPF_RB_NO_WAKEUP;

	if (!ring)
		return false;
	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >
	    bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 2)
		flags = BPF_RB_FORCE_WAKEUP;
	/* The verifier of Linux 6.1 knows the limit only of the register that is compared, so there
	 * may be no other copy of the number. */
	asm volatile("" : "+r"(bytes));
	if (bytes > max)
		bytes = max;
	return !bpf_ringbuf_output(ring, message, bytes, flags);
}

/* Wakes user space. */
static __always_inline void wake(__u32 slot)
{
	void *ring = bpf_map_lookup_elem(&rings, &slot);
	__u32 message = SAMPLE_WAKE;

	if (ring)
		bpf_ringbuf_output(ring, &message, sizeof(message), BPF_RB_FORCE_WAKEUP);
}

/* The index of this CPU and @slot in the maps that have an entry for each. */
static __always_inline __u32 run_place(enum sample_slot slot)
{
	return slot * config.cpus + bpf_get_smp_processor_id();
}

/* Looks up the data that a run in @slot uses; false if it is missing. */
static __always_inline bool run_begin(struct run *run, enum sample_slot slot)
{
	run->slot = slot;
	run->executes = 0;
	run->task = bpf_get_current_task_btf();
	run->place = run_place(slot);
	run->gate = bpf_map_lookup_elem(&gates, &run->place);
	run->scratch = bpf_map_lookup_elem(&scratches, &run->slot);
	run->totals = bpf_map_lookup_elem(&counters, &run->slot);
	if (!run->gate || !run->scratch || !run->totals)
		return false;
	run->scratch->memory = 0;
	run->scratch->tables = *(volatile __u32 *)&control.tables;
	return true;
}

/* A run in a function that is not static, which gets none of its pointers. False if data are
 * missing. */
static __always_inline bool run_again(struct run *run, __u32 slot, __u64 loss)
{
	run->slot = slot;
	run->executes = 0;
	run->loss = loss;
	run->task = bpf_get_current_task_btf();
	run->scratch = bpf_map_lookup_elem(&scratches, &slot);
	run->totals = bpf_map_lookup_elem(&counters, &slot);
	return run->scratch && run->totals;
}

/* Called before and after counting: user space begins another round and then waits until each CPU
 * has passed its gate. It is also a memory barrier, but only because the result of the addition is
 * used: without that the compiler emits one that orders nothing. */
static __always_inline void pass_gate(struct run *run)
{
	__u64 passes = __sync_fetch_and_add(&run->gate->passes, 1);

	asm volatile("" ::"r"(passes));
}

/* The number of samples that this one represents. A fraction is rounded up or down at random, so
 * that code running in step with the samples does not make some places count more. */
static __always_inline __u64 weigh(const struct sample_gate *gate)
{
	__u64 stretch = *(volatile const __u32 *)&gate->stretch;

	if (stretch % STRETCH_ONE)
		stretch += bpf_get_prandom_u32() % STRETCH_ONE;
	return stretch >> STRETCH_ONE_SHIFT;
}
