/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache of the mappings of the interrupted process: the frames of a chain are in few mappings,
 * and those of the next sample are mostly in the same ones. It is kept from one sample to the next
 * only if the kernel reports that the process has mapped and unmapped nothing since.
 */
#pragma once

#include "copy.bpf.h"
#include "image.bpf.h"
#include "maps.bpf.h"
#include "vma.bpf.h"

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

/* Asks for the unwind table of @file, NULL for a vdso; again in each round until it is there. */
static __noinline int want_table(struct run *run, struct file *file, const struct sample_file *id,
				 const struct sample_region *region)
{
	struct sample_image *image;
	struct wanted *w;

	if (!run || !id || !region)
		return 0;
	w = want(run, id->inode, (__u64)id->device << 32 | id->generation);
	if (!w)
		return 0;
	image = &run->scratch->image;
	image->length = 0;
	image->file = *id;
	if (file)
		image = describe(run, file, id, region);
	image->kind = SAMPLE_TABLE;
	send_want(run, w, image, image_bytes(image));
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

/* Fills in what is mapped at @v: the file of @vma, or which memory. Returns its enum copy; for
 * COPY_OF_FILE, *@vma is then another mapping of the file. */
static __always_inline int identify_mapping(struct run *run, struct mapping *v, struct vma *vma)
{
	struct sample_region region = { vma->start, vma->end };
	int kind = IMAGE_FILE, copy = COPY_NONE;
	struct file *file = vma->file;

	v->place = SAMPLE_FILE;
	if (file) {
		file_identity(BPF_CORE_READ(file, f_inode), &v->image.file);
		kind = meet_image(run, file, &v->image.file, &region);
		if (kind == IMAGE_MEMORY)
			v->place = SAMPLE_ANON;
	} else {
		v->place = region_place(run->task->mm, vma);
		v->image.file = (struct sample_file){ 0 }; /* the vdso's */
	}
	if ((v->place == SAMPLE_ANON || kind == IMAGE_NAMELESS) && has_tables())
		copy = find_copy(run, v, vma);
	if (copy != COPY_OF_FILE)
		return copy;
	region = (struct sample_region){ vma->start, vma->end };
	file = vma->file;
	v->place = SAMPLE_FILE;
	file_identity(BPF_CORE_READ(file, f_inode), &v->image.file);
	(void)meet_image(run, file, &v->image.file, &region);
	return copy;
}

/* Fills in the region of memory without a file. */
static __always_inline void set_region(struct mapping *v)
{
	v->offset = 0;
	v->image.region = (struct sample_region){ v->start, v->end };
	/* All processes have the same vdso. */
	if (v->place == SAMPLE_VDSO_32)
		v->image.region = (struct sample_region){ 0, v->end - v->start };
}

/* Whether the memory is an image, which has an unwind table: a file, or a vdso. */
static __always_inline bool is_image(const struct mapping *v)
{
	return v->place == SAMPLE_FILE || v->place == SAMPLE_VDSO || v->place == SAMPLE_VDSO_32;
}

/* Looks up the mapping at @address and, if tables are in use, its unwind table. */
static __noinline int look_up_mapping(struct run *run, struct mapping *v, __u64 address)
{
	struct sample_region region;
	const __u32 *number;
	struct mappings *m;
	struct vma vma = { 0 };
	int r, copy;

	if (!run || !v)
		return VMA_UNREADABLE;
	m = &run->scratch->mappings;
	v->start = v->end = 0;
	m->sequence |= 1;
	read_fence(m);
	r = vma_find(address, VMA_EXECUTABLE, &run->scratch->node, &vma);
	if (r != VMA_FOUND)
		return r;
	v->start = vma.start;
	v->end = vma.end;
	v->offset = vma.file ? vma.page_offset << SAMPLE_PAGE_SHIFT : 0;
	v->table = SAMPLE_TABLE_NONE;
	v->interpreter = 0;
	copy = identify_mapping(run, v, &vma);
	if (v->place != SAMPLE_FILE && v->place != SAMPLE_VDSO)
		set_region(v);
	if (is_image(v) && has_tables()) {
		number = bpf_map_lookup_elem(&table_numbers, &v->image.file);
		v->table = number ? *number : SAMPLE_TABLE_WANTED;
		v->interpreter = use_table(v->table);
		region = (struct sample_region){ vma.start, vma.end };
		if (!number)
			want_table(run, vma.file, &v->image.file, &region);
	}
	if (copy == COPY_UNKNOWN && v->table == SAMPLE_TABLE_NONE)
		v->table = SAMPLE_TABLE_WANTED;
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
