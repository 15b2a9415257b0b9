/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache of the mappings of the interrupted process: the frames of a chain are in few mappings,
 * and those of the next sample are mostly in the same ones. It is kept from one sample to the next
 * only if the kernel reports that the process has mapped and unmapped nothing since.
 */
#pragma once

#include "image.bpf.h"
#include "maps.bpf.h"
#include "vma.bpf.h"

/* Requests for unwind tables. Locks: as those of other rings. */
struct wants {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
} event_wants SEC(".maps"), switch_wants SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, SAMPLE_CHAIN_SLOTS);
	__array(values, struct wants);
} wants SEC(".maps") = {
	.values = {
		[SAMPLE_SLOT_EVENT] = &event_wants,
		[SAMPLE_SLOT_SWITCH] = &switch_wants,
	},
};

/* The requests of each place (run_place()) in this round, in the position that the file's hash
 * selects. A request that another one has replaced is repeated. */
enum { WANTED_SHIFT = 8 };

struct wanted {
	struct sample_file file;
	__u32 round, tables; /* as in control, when it was requested */
};
struct wanted_files {
	struct wanted files[1 << WANTED_SHIFT];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct wanted_files);
	__uint(max_entries, 1);
} wanted SEC(".maps");

/* The number of each file's unwind table. Locks: changed by system calls only. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct sample_file);
	__type(value, __u32);
	__uint(max_entries, 1);
} table_numbers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sample_table);
	__uint(max_entries, 1);
} tables SEC(".maps");

/* Notes that the table of @id is requested. Returns whether it was not in this round. */
static __always_inline struct wanted *want(const struct run *run, const struct sample_file *id)
{
	__u64 hash = mix(mix(id->inode, id->device), id->generation);
	__u32 place = run->place, round = control.round, tables = control.tables;
	struct wanted_files *all = bpf_map_lookup_elem(&wanted, &place);
	struct wanted *w;

	if (!all)
		return NULL;
	w = &all->files[hash >> (64 - WANTED_SHIFT)];
	if (w->round == round && w->tables == tables && w->file.inode == id->inode &&
	    w->file.device == id->device && w->file.generation == id->generation)
		return NULL;
	*w = (struct wanted){ *id, round, tables };
	return w;
}

/* Asks for the unwind table of @file, NULL for the vdso; again in each round until it is there. All
 * chains through the file end in it until the table is loaded, so a separate thread waits for these
 * requests. */
static __noinline int want_table(struct run *run, struct file *file, const struct sample_file *id,
				 const struct sample_region *region)
{
	struct sample_image *image;
	struct wanted *w;
	void *ring;

	if (!run || !id || !region)
		return 0;
	ring = bpf_map_lookup_elem(&wants, &run->slot);
	w = ring ? want(run, id) : NULL;
	if (!w)
		return 0;
	image = &run->scratch->image;
	image->length = 0;
	image->file = *id;
	if (file)
		image = describe(run, file, id, region);
	image->kind = SAMPLE_TABLE;
	if (bpf_ringbuf_output(ring, image, image_bytes(image), BPF_RB_FORCE_WAKEUP)) {
		run->totals->ring_full++;
		w->round = 0;
	}
	return 0;
}

/* Notes that the table is in use. Writes only changes, because all CPUs share the cache line.
 * Returns the table's interpreter, or 0. */
static __always_inline __u32 use_table(__u32 number)
{
	struct sample_table *table = bpf_map_lookup_elem(&tables, &number);

	if (!number || !table)
		return 0;
	if (table->used != control.round)
		table->used = control.round;
	return table->interpreter;
}

/* The kind of memory without a file. */
static __always_inline enum sample_place region_place(struct mm_struct *mm, const struct vma *vma)
{
	__u64 vdso = 0;

	if (bpf_core_field_exists(mm->context.vdso))
		vdso = (__u64)BPF_CORE_READ(mm, context.vdso);
	if (vdso && vma->start == vdso)
		return vdso >> 32 ? SAMPLE_VDSO : SAMPLE_VDSO_32;
	if (vma->start <= BPF_CORE_READ(mm, brk) && vma->end >= BPF_CORE_READ(mm, start_brk))
		return SAMPLE_HEAP;
	if (vma->start <= BPF_CORE_READ(mm, start_stack) &&
	    vma->end >= BPF_CORE_READ(mm, start_stack))
		return SAMPLE_STACK;
	return SAMPLE_ANON;
}

/* A barrier: reads before it come before reads after it. */
static __always_inline void read_fence(struct mappings *m)
{
	__u64 fences = __sync_fetch_and_add(&m->fences, 1);

	asm volatile("" ::"r"(fences) : "memory");
}

/* How many times the process has begun or ended a change of its mappings: odd during a change. If
 * the kernel does not count (before Linux 6.14), always odd. */
static __always_inline __u32 mappings_sequence(const struct run *run)
{
	struct mm_struct *mm = run->task->mm;

	return mm && bpf_core_field_exists(mm->mm_lock_seq.sequence) ? mm->mm_lock_seq.sequence : 1;
}

/* Clears the cache if it belongs to another process or may be out of date; also at every drain, so
 * that each table in use is marked again. */
static __noinline int mappings_begin(struct run *run)
{
	const volatile struct sample_control *shared = &control;
	struct task_struct *task = run ? run->task : NULL;
	__u32 sequence, i;
	struct mappings *m;

	if (!run || !task)
		return 0;
	m = &run->scratch->mappings;
	sequence = mappings_sequence(run);
	if (!(sequence & 1) && m->sequence == sequence && m->mm == (__u64)task->mm &&
	    m->tgid == (__u32)task->tgid && m->started_ns == task->group_leader->start_boottime &&
	    m->execs == task->self_exec_id && m->round == shared->round &&
	    m->tables == shared->tables)
		return 0;
	m->sequence = sequence;
	m->mm = (__u64)task->mm;
	m->tgid = (__u32)task->tgid;
	m->started_ns = task->group_leader->start_boottime;
	m->execs = task->self_exec_id;
	m->round = shared->round;
	m->tables = run->scratch->tables;
	m->exe_file = 0;
	for (i = 0; i < MAPPINGS; i++)
		m->all[i].start = m->all[i].end = 0;
	return 0;
}

/* Marks what was looked up as valid for the next sample, unless the mappings changed meanwhile. */
static __always_inline void mappings_end(struct run *run)
{
	struct mappings *m = &run->scratch->mappings;

	if (!(m->sequence & 1))
		return;
	read_fence(m);
	if (mappings_sequence(run) == (m->sequence & ~1))
		m->sequence &= ~1;
}

/* Looks up the mapping at @address and, if tables are in use, its unwind table. */
static __noinline int look_up_mapping(struct run *run, struct mapping *v, __u64 address)
{
	struct sample_region region;
	const __u32 *number;
	struct mappings *m;
	struct file *file;
	struct vma vma;
	int r;

	if (!run || !v)
		return VMA_UNREADABLE;
	m = &run->scratch->mappings;
	v->start = v->end = 0;
	m->sequence |= 1;
	read_fence(m);
	r = vma_find(run->task->mm, address, run->scratch->node, &vma);
	if (r != VMA_FOUND)
		return r;
	region = (struct sample_region){ vma.start, vma.end };
	v->offset = 0;
	v->table = SAMPLE_TABLE_NONE;
	v->interpreter = 0;
	v->place = SAMPLE_FILE;
	file = vma.file;
	if (file) {
		file_identity(BPF_CORE_READ(file, f_inode), &v->image.file);
		if (meet_image(run, file, &v->image.file, &region))
			v->place = SAMPLE_ANON;
		v->offset = vma.page_offset << SAMPLE_PAGE_SHIFT;
	} else {
		v->place = region_place(run->task->mm, &vma);
		v->image.file = (struct sample_file){ 0 }; /* the vdso's */
	}
	v->start = vma.start;
	v->end = vma.end;
	if (v->place != SAMPLE_FILE && v->place != SAMPLE_VDSO) {
		v->offset = 0;
		/* All processes have the same vdso. */
		if (v->place == SAMPLE_VDSO_32)
			region = (struct sample_region){ 0, vma.end - vma.start };
		v->image.region = region;
	} else if (config.depth && !config.by_frame_pointers) {
		number = bpf_map_lookup_elem(&table_numbers, &v->image.file);
		v->table = number ? *number : SAMPLE_TABLE_WANTED;
		v->interpreter = use_table(v->table);
		if (!number)
			want_table(run, file, &v->image.file, &region);
	}
	return VMA_FOUND;
}

/* The mapping that contains @address; NULL if there is none. Looks it up if it is not in the cache,
 * or if its table was missing. */
static __always_inline struct mapping *mapping_at(struct run *run, __u64 address)
{
	struct mappings *m = &run->scratch->mappings;
	struct mapping *v;
	int i;

	for (i = 0; i < MAPPINGS; i++) {
		v = &m->all[i];
		if (address >= v->start && address < v->end && v->table != SAMPLE_TABLE_WANTED)
			return v;
	}
	v = &m->all[m->next++ % MAPPINGS];
	m->result = look_up_mapping(run, v, address);
	return m->result == VMA_FOUND ? v : NULL;
}
