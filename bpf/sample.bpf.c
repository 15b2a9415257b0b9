/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel half of driver "bpf": at each overflow or tick the program counter becomes image and
 * offset, by the mappings of that instant, and is counted in a map under who ran where. The reader
 * swaps two such maps and drains the one that is not written to.
 */
#include "arch.h"
#include "kernel.h"
#include "path.h"
#include "sample.h"
#include "vma.h"

char gpl[] SEC("license") = "GPL";

const volatile struct sample_config config SEC(".rodata.config");
struct sample_control control SEC(".data.control");

/* Counts by key; how many keys is up to the driver, as with all that has no bound here. */
struct counts {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct sample_key);
	__type(value, __u64);
	__uint(max_entries, 4096);
};
struct counts counts_0 SEC(".maps");
struct counts counts_1 SEC(".maps");

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

/* By CPU, as many as there can be. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sample_gate);
	__uint(max_entries, 1);
} gates SEC(".maps");

/* Too big for the stack. A program of a perf event is never interrupted by another on its CPU. */
struct scratch {
	__u64 node[MAPLE_WORDS];
	struct sample_image image;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct scratch);
	__uint(max_entries, 1);
} scratches SEC(".maps");

/* Processes that are followed, by tgid: enum sample_follow. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 65536);
} followed SEC(".maps");

/* What a run of the program works with. */
struct run {
	struct task_struct *task;
	struct scratch *scratch;
	struct sample_counters *totals;
	struct sample_key key;
};

/* Tells the reader of a file seen for the first time, mapped at @region or executed. */
static __noinline int tell_image(struct run *run, struct file *file, const struct sample_file *id,
				 const struct sample_region *region)
{
	struct known_image known = { 0 };
	struct sample_image *image;
	__u32 length;

	if (!run || !id || !region)
		return 0;
	image = &run->scratch->image;
	image->kind = SAMPLE_IMAGE;
	image->tgid = run->key.tgid;
	image->file = *id;
	image->mapped = *region;
	path_fill(file, run->task, image);
	known.is_memory = image_is_memory(image);
	if (bpf_map_update_elem(&images, id, &known, BPF_NOEXIST))
		return known.is_memory;
	if (image->truncated)
		run->totals->path_truncated++;
	length = image->length;
	if (length > SAMPLE_PATH_BYTES)
		length = SAMPLE_PATH_BYTES;
	if (bpf_ringbuf_output(&ring, image, offsetof(struct sample_image, path) + length,
			       BPF_RB_NO_WAKEUP)) {
		run->totals->ring_full++;
		bpf_map_delete_elem(&images, id);
	}
	return known.is_memory;
}

/* Makes sure that the reader knows the file; whether it is memory to all but the kernel. */
static __always_inline bool meet_image(struct run *run, struct file *file,
				       const struct sample_file *id,
				       const struct sample_region *region)
{
	const struct known_image *known = bpf_map_lookup_elem(&images, id);

	return known ? known->is_memory : tell_image(run, file, id, region);
}

/* Fills in the application. */
static __always_inline void place_app(struct run *run)
{
	static const struct sample_region nowhere = { 0 };
	struct task_struct *task = run->task;
	struct sample_key *key = &run->key;
	struct mm_struct *mm = task->mm;
	struct file *file;

	if (task->flags & KERNEL_THREAD) {
		key->app_kind = SAMPLE_APP_THREAD;
		BPF_CORE_READ_STR_INTO(&key->app.comm, task, comm);
		return;
	}
	/* Its memory is what a process gives back last, and the memory's program is known until
	 * all of it is. */
	if (!mm)
		mm = task->active_mm;
	file = mm ? mm->exe_file : NULL;
	if (!file)
		return;
	key->app_kind = SAMPLE_APP_FILE;
	file_identity(file->f_inode, &key->app.file);
	(void)meet_image(run, file, &key->app.file, &nowhere);
}

/* The kind of memory that has no file. */
static __always_inline enum sample_place region_place(struct mm_struct *mm, const struct vma *vma)
{
	__u64 vdso = 0;

	if (bpf_core_field_exists(mm->context.vdso))
		vdso = (__u64)BPF_CORE_READ(mm, context.vdso);
	if (vdso && vma->start == vdso)
		return SAMPLE_VDSO;
	if (vma->start <= BPF_CORE_READ(mm, brk) && vma->end >= BPF_CORE_READ(mm, start_brk))
		return SAMPLE_HEAP;
	if (vma->start <= BPF_CORE_READ(mm, start_stack) &&
	    vma->end >= BPF_CORE_READ(mm, start_stack))
		return SAMPLE_STACK;
	return SAMPLE_ANON;
}

/* Fills in image and offset of @address in user space; false where it is in none, which is
 * counted. */
static __always_inline bool place_user(struct run *run, __u64 address)
{
	struct mm_struct *mm = run->task->mm;
	struct sample_key *key = &run->key;
	struct sample_region region;
	struct file *file;
	struct vma vma;
	int r = mm ? vma_find(mm, address, run->scratch->node, &vma) : VMA_UNREADABLE;

	if (r != VMA_FOUND) {
		run->totals->no_mapping += r == VMA_NONE;
		run->totals->no_tree += r != VMA_NONE;
		return false;
	}
	region = (struct sample_region){ vma.start, vma.end };
	key->offset = address - vma.start;
	file = vma.file;
	if (file) {
		file_identity(BPF_CORE_READ(file, f_inode), &key->image.file);
		if (!meet_image(run, file, &key->image.file, &region)) {
			key->place = SAMPLE_FILE;
			key->offset += vma.page_offset << SAMPLE_PAGE_SHIFT;
			return true;
		}
		key->place = SAMPLE_ANON;
	} else {
		key->place = region_place(mm, &vma);
	}
	key->image.region = region;
	return true;
}

/* Counts the key in @map, the one with the number @which. */
static __always_inline void count_in(void *map, __u32 which, struct run *run)
{
	__u64 *count = bpf_map_lookup_elem(map, &run->key), one = 1;
	long r;

	if (!count) {
		r = bpf_map_update_elem(map, &run->key, &one, BPF_NOEXIST);
		if (r == 0) {
			if (__sync_fetch_and_add(&control.used[which], 1) == config.wake_at) {
				__u32 wake = SAMPLE_WAKE;

				bpf_ringbuf_output(&ring, &wake, sizeof(wake), BPF_RB_FORCE_WAKEUP);
			}
			return;
		}
		/* Another CPU made it meanwhile, or there is no room. */
		count = bpf_map_lookup_elem(map, &run->key);
	}
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		run->totals->map_full++;
}

static __always_inline void count(struct run *run)
{
	if (*(volatile __u32 *)&control.active)
		count_in(&counts_1, 1, run);
	else
		count_in(&counts_0, 0, run);
}

/* Whether the process is one that is left out. */
static __always_inline bool is_filtered(__u32 tgid)
{
	const __u32 *state;

	if (!config.follow)
		return false;
	state = bpf_map_lookup_elem(&followed, &tgid);
	return !state || *state == SAMPLE_FOLLOW_WAITING;
}

static __always_inline void take(struct perf_event_context *context, struct run *run)
{
	__u64 ids = bpf_get_current_pid_tgid();

	run->totals->received++;
	run->key.tgid = ids >> 32;
	run->key.tid = (__u32)ids;
	if (is_filtered(run->key.tgid)) {
		run->totals->filtered++;
		return;
	}
	run->key.cpu = (__u16)bpf_get_smp_processor_id();
	run->key.counter = (__u8)bpf_get_attach_cookie(context);
	place_app(run);
	if (registers_in_user(&context->registers)) {
		if (!place_user(run, context->registers.ip))
			return;
	} else {
		run->key.place = SAMPLE_KERNEL;
		run->key.offset = context->registers.ip;
	}
	count(run);
}

/* The program of all events. Whoever swaps the maps waits until each CPU has passed its gate. */
SEC("perf_event")
int take_sample(struct perf_event_context *context)
{
	__u32 zero = 0, cpu = bpf_get_smp_processor_id();
	struct sample_gate *gate = bpf_map_lookup_elem(&gates, &cpu);
	struct run run = { .key = { 0 } };

	run.task = bpf_get_current_task_btf();
	run.scratch = bpf_map_lookup_elem(&scratches, &zero);
	run.totals = bpf_map_lookup_elem(&counters, &zero);
	if (!gate || !run.scratch || !run.totals)
		return 0;
	__sync_fetch_and_add(&gate->passes, 1);
	take(context, &run);
	__sync_fetch_and_add(&gate->passes, 1);
	return 0;
}

/* Looks up an address of the process that runs it, which knows what must come out. */
SEC("raw_tp")
int test_self(__u64 *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct sample_image *image;
	struct scratch *scratch;
	struct file *file;
	__u32 zero = 0;
	struct vma vma;

	scratch = bpf_map_lookup_elem(&scratches, &zero);
	if (!scratch || vma_find(task->mm, context[0], scratch->node, &vma) != VMA_FOUND ||
	    !vma.file)
		return 0;
	image = &scratch->image;
	file = vma.file;
	path_fill(file, task, image);
	control.test_region = (struct sample_region){ vma.start, vma.end };
	control.test_offset = vma.page_offset << SAMPLE_PAGE_SHIFT;
	control.test_seen = image->seen;
	control.found = 1;
	return 0;
}

/* The processes that are followed: their descendants are, too. */

SEC("raw_tp/sched_process_fork")
int follow_fork(__u64 *context)
{
	struct task_struct *parent = (void *)context[0], *child = (void *)context[1];
	__u32 from = BPF_CORE_READ(parent, tgid), to = BPF_CORE_READ(child, tgid), zero = 0;
	struct sample_counters *totals = bpf_map_lookup_elem(&counters, &zero);
	__u32 *state = bpf_map_lookup_elem(&followed, &from), copy;

	if (from == to)
		return 0;
	/* Whoever had the number before is gone. */
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
	/* Of the last threads two may come here at once. */
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
