/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text that a process has moved to memory, for huge pages: user space compares the memory with the
 * file whose mapping it replaced, and from then on it is that file. Only as long as the mapping is
 * the one that was compared: a process that puts other code there needs the right to write to it
 * meanwhile, or another mapping, and the kernel notes either. Memory that can be written to all the
 * time is that file only until some time after it was compared, which user space does again before.
 */
#pragma once

#include "image.bpf.h"
#include "maps.bpf.h"
#include "vma.bpf.h"
#include "wants.bpf.h"

/* What is known about the memory of processes. Locks: changed by system calls only. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct sample_memory);
	__type(value, struct sample_copy);
	__uint(max_entries, 1);
} copies SEC(".maps");

/* How long writable memory is what it was when it was compared: user space does so every two
 * seconds. */
enum { COPY_WRITABLE_NS = 3000000000ULL };

static __always_inline bool is_stale(const struct sample_copy *copy, __u64 version)
{
	return version & VMA_VERSION_WRITABLE &&
	       bpf_ktime_get_ns() - copy->compared_ns > COPY_WRITABLE_NS;
}

/* Whether unwind tables are in use. */
static __always_inline bool has_tables(void)
{
	return config.depth && !config.by_frame_pointers;
}

/* Asks user space what @memory is, which is mapped from @file: for its unwind table; and if it was
 * a copy or was not known (@is_news), at once for the names of what was sampled so far. */
static __always_inline void doubt(struct run *run, const struct sample_memory *memory,
				  const struct sample_file *file, __u64 version, bool is_news)
{
	struct wanted *w = want(run, memory->region.start, version);
	struct sample_doubt message = { SAMPLE_DOUBT, 0, version, *memory, *file };

	if (!w)
		return;
	send_want(run, w, &message, sizeof(message));
	if (is_news && send(run->slot, &message, sizeof(message), sizeof(message)))
		wake_for_image(run);
}

enum copy { COPY_NONE, COPY_OF_FILE, COPY_UNKNOWN };

/* Whether @vma is a copy of a file's text. Then sets @v->offset to that in the file, and *@vma to
 * another mapping of the file. Returns an enum copy. */
static __noinline int find_copy(struct run *run, struct mapping *v, struct vma *vma)
{
	struct sample_memory memory;
	struct sample_copy *copy;
	__u64 part, offset;

	if (!run || !v || !vma)
		return COPY_NONE;
	memory = (struct sample_memory){ { vma->start, vma->end }, run->task->tgid, 0 };
	copy = bpf_map_lookup_elem(&copies, &memory);
	if (!copy || copy->version != vma->version) {
		doubt(run, &memory, &v->image.file, vma->version, !copy || copy->part);
		return copy ? COPY_NONE : COPY_UNKNOWN;
	}
	if (copy->used != control.round)
		copy->used = control.round;
	if (copy->part && is_stale(copy, vma->version))
		return COPY_UNKNOWN;
	part = copy->part;
	offset = copy->offset;
	/* Memory of a deleted entry is used again at once: its key is written first. */
	asm volatile("" ::: "memory");
	if (!part || copy->key.tgid != memory.tgid || copy->key.region.start != vma->start)
		return COPY_NONE;
	if (vma_find(part, 0, &run->scratch->node, vma) != VMA_FOUND || !vma->file)
		return COPY_NONE;
	v->offset = offset;
	return COPY_OF_FILE;
}
