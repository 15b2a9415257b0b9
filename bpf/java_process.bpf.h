/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds HotSpot, Java's virtual machine, in a process, and its heaps of generated code. All is read
 * in the process, by what user space has read in the file (struct java_layout).
 */
#pragma once

#include "arch.bpf.h"
#include "mapping.bpf.h"
#include "script.bpf.h"
#include "unwinding.bpf.h"

enum {
	JAVA_PROCESSES = 16, /* that a CPU remembers; a power of two */
	JAVA_HEAPS = 4,
	JAVA_TRIES = 16, /* to find the virtual machine of a process, in one round */
	JAVA_OFFSET_MAX = 4096,
	JAVA_BLOB_BYTES = 128, /* that are read of a header */
	JAVA_BLOB_MASK = JAVA_BLOB_BYTES / 2 - 1,
	JAVA_CODE_BYTES = 32, /* that are read around a PC */
};

/* A heap of code, and its map: a byte for each segment. */
struct java_heap {
	__u64 start, bytes, map;
};

/* A virtual machine. */
struct java_process {
	__u64 key, bias;	   /* process_key(); address of PC 0 */
	__u32 interpreter, tables; /* as in struct script_process; 0: not found */
	__u32 round, tries;	   /* in which the rest was read, or searched for */
	__u32 heap_count, shift;   /* segments have 1 << shift bytes */
	struct java_heap heaps[JAVA_HEAPS];
	__u16 offsets[JAVA_FIELD_COUNT_ + 1]; /* of members, by enum java_field */
};

/* A piece of code. */
struct java_blob {
	__u64 code;	/* its first instruction */
	__u32 frame;	/* words, with the return address; 0: not known */
	__u32 complete; /* offset in the code where the frame is complete */
	__u64 name;	/* the first 8 bytes */
	__u64 text;	/* the address of the name */
	__u64 bytes;	/* of the code; 0: not known */
	__u64 method;	/* Method, if it was compiled; 0: code of another kind */
	__u32 compile;	/* its number, which no later code has */
	__u32 reserved;
};

/* The method of an interpreted frame. */
struct java_method {
	__u64 method, code; /* Method, ConstMethod */
	__u64 pool;	    /* ConstantPool */
	__u64 at;	    /* the instruction in its bytecode */
	__u32 bytes;	    /* of bytecode */
	__u32 reserved;
};

struct java_walk {
	struct java_process processes[JAVA_PROCESSES];
	struct java_blob blob;
	struct java_method method;
	__u16 header[JAVA_BLOB_BYTES / 2]; /* copies of what is looked at */
	__u8 bytes[JAVA_CODE_BYTES];
};

/* Indexed by enum sample_slot. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct java_walk);
	__uint(max_entries, 1);
} java_walks SEC(".maps");

static __always_inline struct java_process *java_process(struct java_walk *w, const struct run *run)
{
	return &w->processes[process_key(run) >> 58 & (JAVA_PROCESSES - 1)];
}

static __always_inline const struct java_layout *java_layout_of(__u32 interpreter)
{
	const struct interpreter *i = bpf_map_lookup_elem(&interpreters, &interpreter);

	return i && i->kind == INTERPRETER_JAVA ? &i->java : NULL;
}

/* --- the process --- */

/* What is read of a process, by its layout. */
struct java_reading {
	struct java_process *process;
	const struct java_layout *layout;
	__u64 heaps; /* pointers to them */
	__u32 read;
};

/* The largest offset of a member that makes sense. Of a CodeBlob, only the beginning is copied. */
static __always_inline __u64 java_offset_max(__u32 field)
{
	return field >= JAVA_BLOB_NAME && field <= JAVA_BLOB_METHOD ? JAVA_BLOB_BYTES - 8
								    : JAVA_OFFSET_MAX;
}

/* Reads the offset of a member, for bpf_loop(): returns 1 if it makes no sense. */
static long read_java_offset(__u32 i, struct java_reading *r)
{
	const struct java_layout *o = r->layout;
	__u64 at, offset = 0;

	if (i >= JAVA_FIELD_COUNT_)
		return 1;
	at = r->process->bias + (__u64)o->table + (__u64)o->entries[i] * JAVA_ENTRY_BYTES;
	if (o->entries[i] != JAVA_NO_ENTRY &&
	    (!read_word(&offset, at + JAVA_ENTRY_OFFSET) || offset > java_offset_max(i)))
		return 1;
	r->process->offsets[i] = (__u16)offset;
	r->read++;
	return 0;
}

/* Reads a heap of code, for bpf_loop(): returns 1 if it cannot be read. */
static long read_java_heap(__u32 i, struct java_reading *r)
{
	struct java_process *p = r->process;
	__u64 heap, memory, end;
	struct java_heap *to;

	if (i >= JAVA_HEAPS || !read_word(&heap, r->heaps + i * 8))
		return 1;
	to = &p->heaps[i];
	memory = heap + p->offsets[JAVA_HEAP_MEMORY];
	if (!read_word(&to->start, memory + p->offsets[JAVA_SPACE_START]) ||
	    !read_word(&end, memory + p->offsets[JAVA_SPACE_END]) ||
	    !read_word(&to->map, heap + p->offsets[JAVA_HEAP_MAP] + p->offsets[JAVA_SPACE_START]) ||
	    bpf_probe_read_user(&p->shift, sizeof(p->shift),
				(void *)(heap + p->offsets[JAVA_HEAP_SHIFT])))
		return 1;
	to->bytes = end - to->start;
	p->heap_count = i + 1;
	return 0;
}

/* Reads where the heaps of the virtual machine @o are. It may not have made them yet. */
__noinline int read_java_heaps(struct java_process *p, const struct java_layout *o)
{
	struct java_reading r = { .process = p, .layout = o };
	__u32 count = 0;
	__u64 list;

	if (!p || !o)
		return 0;
	p->heap_count = 0;
	bpf_loop(JAVA_FIELD_COUNT_, read_java_offset, &r, 0);
	if (r.read != JAVA_FIELD_COUNT_ || !read_word(&list, p->bias + (__u64)o->heaps) || !list ||
	    !read_word(&r.heaps, list + p->offsets[JAVA_LIST_DATA]) ||
	    bpf_probe_read_user(&count, sizeof(count),
				(void *)(list + p->offsets[JAVA_LIST_LENGTH])))
		return 0;
	bpf_loop(count < JAVA_HEAPS ? count : JAVA_HEAPS, read_java_heap, &r, 0);
	return 0;
}

/* Notes that the virtual machine @number of the process is at @bias. */
static __always_inline void note_java(struct run *run, struct java_process *p, __u32 number,
				      __u64 bias)
{
	const struct java_layout *o = java_layout_of(number);

	p->key = process_key(run);
	p->tables = run->scratch->tables;
	p->round = control.round;
	p->interpreter = o ? number : 0;
	p->bias = bias;
	if (o)
		read_java_heaps(p, o);
}

/* Whether the word at @thread is the address of the functions of a C++ class: the first one is code
 * of the file in which that list is. Not inlined, because find_java() needs much stack, too. */
static __noinline int has_class(struct run *run, __u64 thread)
{
	__u64 class = 0, function;
	struct vma vma = { 0 };
	struct file *file;

	if (!run || !read_word(&class, thread) || !read_word(&function, class) ||
	    vma_find(function, VMA_EXECUTABLE, &run->scratch->node, &vma) != VMA_FOUND)
		return 0;
	file = vma.file;
	return vma_find(class, 0, &run->scratch->node, &vma) == VMA_FOUND && vma.file == file;
}

/* Finds the virtual machine by the thread: generated code has it in a register, and it begins with
 * a pointer to the functions of its class, which are in the data of libjvm.so. */
static __always_inline void find_java(struct run *run, const struct unwinding *u,
				      struct java_process *p)
{
	const struct sample_table *table;
	const struct java_layout *o;
	struct sample_region region;
	__u64 word, bias; /* one for all that is read: the stack has no room */
	struct sample_file id;
	const __u32 *number;
	struct file *file;
	struct vma vma = { 0 };

	if (!read_word(&word, u->registers[JAVA_REGISTER_THREAD]) ||
	    vma_find(word, 0, &run->scratch->node, &vma) != VMA_FOUND || !vma.file)
		return;
	file = vma.file;
	file_identity(BPF_CORE_READ(file, f_inode), &id);
	number = bpf_map_lookup_elem(&table_numbers, &id);
	region = (struct sample_region){ vma.start, vma.end };
	if (!number) {
		want_table(run, file, &id, &region);
		return;
	}
	table = bpf_map_lookup_elem(&tables, number);
	o = table ? java_layout_of(table->interpreter) : NULL;
	if (!o)
		return;
	bias = vma.start - (vma.page_offset << SAMPLE_PAGE_SHIFT) - (__u64)o->data;
	if (read_word(&word, bias + (__u64)o->pointer) && word == bias + (__u64)o->table)
		note_java(run, p, use_table(*number), bias);
}

/* The heap that @address is in; NULL if it is in none. */
static __always_inline const struct java_heap *java_heap_at(const struct java_process *p,
							    __u64 address)
{
	__u32 i;

	for (i = 0; i < JAVA_HEAPS; i++)
		if (i < p->heap_count && address - p->heaps[i].start < p->heaps[i].bytes)
			return &p->heaps[i];
	return NULL;
}

/* Finds the virtual machine of the process, or reads its heaps again: once in a round, and where
 * the frame is in none of them, as it may have made them since. Without them the frame would be
 * left by its frame pointer, which is a caller's. */
static __noinline int know_java(struct run *run, const struct unwinding *u)
{
	struct java_process *p;
	struct java_walk *w;
	__u32 slot;

	if (!run || !u)
		return 0;
	slot = run->slot;
	w = bpf_map_lookup_elem(&java_walks, &slot);
	if (!w)
		return 0;
	p = java_process(w, run);
	if (p->key != process_key(run) || p->tables != run->scratch->tables)
		p->interpreter = p->round = 0;
	if (p->round != control.round) {
		p->key = process_key(run);
		p->tables = run->scratch->tables;
		p->round = control.round;
		p->tries = 0;
		if (p->interpreter)
			note_java(run, p, p->interpreter, p->bias);
	}
	if ((p->interpreter && java_heap_at(p, unwind_lookup_pc(&u->frame))) ||
	    p->tries++ >= JAVA_TRIES)
		return 0;
	if (p->interpreter)
		note_java(run, p, p->interpreter, p->bias);
	else if (has_class(run, u->registers[JAVA_REGISTER_THREAD]))
		find_java(run, u, p);
	return 0;
}

/* The virtual machine of the process; NULL if it is not known. know_java() was called before. */
static __always_inline struct java_process *java_of(const struct run *run, struct java_walk *w)
{
	struct java_process *p = java_process(w, run);

	return p->interpreter && p->key == process_key(run) ? p : NULL;
}

/* Notes the virtual machine in whose file the walk has met a frame. */
static __always_inline void meet_java(struct run *run, const struct script_process *at)
{
	__u32 slot = run->slot;
	struct java_walk *w = bpf_map_lookup_elem(&java_walks, &slot);
	struct java_process *p;

	if (!w)
		return;
	p = java_process(w, run);
	if (p->key != at->key || p->tables != at->tables || p->round != control.round ||
	    !p->interpreter)
		note_java(run, p, at->interpreter, at->bias);
}
