/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the mapping at an address without taking the lock. Helpers that take it (bpf_find_vma) fail
 * while the mappings change, always fail on PREEMPT_RT, and need an interrupt to release it. The
 * tree of mappings (a maple tree since Linux 6.1) is made for readers without a lock: nodes are
 * replaced, not changed, and freed only after every CPU has left the interrupt that it is in.
 */
#pragma once

#include "kernel.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

struct vma {
	__u64 start, end, page_offset;
	struct file *file; /* NULL: anonymous */
	__u64 version;	   /* another one after a change of the mapping, or of its rights */
};

/* VM_WRITE, VM_EXEC */
enum { VMA_WRITABLE = 2, VMA_EXECUTABLE = 4 };

enum vma_result { VMA_FOUND, VMA_NONE, VMA_UNREADABLE };

/* The layout of a node (include/linux/maple_tree.h): 256 bytes; the parent, then the upper bounds
 * of the slots, then the slots. A pointer to a node contains the node's type. */
enum {
	MAPLE_WORDS = 32,
	MAPLE_LEVELS = 8, /* with 10 slots per node, more mappings than a process can have */
	MAPLE_TYPE_SHIFT = 3,
	MAPLE_TYPE_MASK = 15,
	MAPLE_LEAF = 1,	  /* types up to this one have values in their slots */
	MAPLE_ARANGE = 3, /* 9 bounds, 10 slots, and gaps; the others have 15 and 16 */
};

/* A copy of a node. */
struct maple_node {
	__u64 words[MAPLE_WORDS];
};

/* The slot of a node whose range contains @address. A bound of 0 after the first ends the list. */
static __always_inline __u64 maple_slot(const __u64 *words, __u32 type, __u64 address)
{
	__u32 bounds = type == MAPLE_ARANGE ? 9 : 15, i;

	for (i = 0; i < 15; i++) {
		if (i >= bounds)
			break;
		if ((i && !words[1 + i]) || address <= words[1 + i])
			break;
	}
	return words[(1 + bounds + i) & (MAPLE_WORDS - 1)];
}

/* The entry of the tree for @address, or 0. Sets *@failed if a node cannot be read. */
static __always_inline __u64 maple_find(struct mm_struct *mm, __u64 address, __u64 *words,
					bool *failed)
{
	__u64 entry = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	int level;

	/* A tree with a single entry has no node, but every process has more than one mapping. */
	if ((entry & 3) != 2)
		return 0;
	for (level = 0; level < MAPLE_LEVELS && entry; level++) {
		__u32 type = entry >> MAPLE_TYPE_SHIFT & MAPLE_TYPE_MASK;

		if (bpf_probe_read_kernel(words, MAPLE_WORDS * sizeof(*words),
					  (void *)(entry & ~255ULL))) {
			*failed = true;
			return 0;
		}
		entry = maple_slot(words, type, address);
		if (type <= MAPLE_LEAF)
			return entry;
	}
	return 0;
}

/* Bits of a version, in the place of those that the address of a mapping lacks: one that is always
 * set; what is in the mapping may change without a change of the mapping. */
enum { VMA_VERSION = 1, VMA_VERSION_WRITABLE = 2 };

/* The version of a mapping. The kernel notes the number of the change that made a mapping what it
 * is. */
static __always_inline __u64 vma_version(struct vm_area_struct *vma, __u64 flags)
{
	__u64 version = (__u64)vma | VMA_VERSION;

	if (flags & VMA_WRITABLE)
		version |= VMA_VERSION_WRITABLE;
	if (bpf_core_field_exists(vma->vm_lock_seq))
		version ^= (__u64)BPF_CORE_READ(vma, vm_lock_seq) << 32;
	return version;
}

/* Looks up the mapping of the current process at @address that has all rights @rights. */
__noinline int vma_find(__u64 address, __u64 rights, struct maple_node *node, struct vma *ret)
{
	struct mm_struct *mm = bpf_get_current_task_btf()->mm;
	struct vm_area_struct *vma;
	bool failed = false;
	__u64 flags;

	if (!mm || !node || !ret)
		return VMA_UNREADABLE;
	vma = (void *)maple_find(mm, address, node->words, &failed);
	if (!vma)
		return failed ? VMA_UNREADABLE : VMA_NONE;
	/* Memory that is not executable is not code, so the address is not a return address. */
	flags = BPF_CORE_READ(vma, vm_flags);
	if ((flags & rights) != rights)
		return VMA_NONE;
	ret->start = BPF_CORE_READ(vma, vm_start);
	ret->end = BPF_CORE_READ(vma, vm_end);
	ret->page_offset = BPF_CORE_READ(vma, vm_pgoff);
	ret->file = BPF_CORE_READ(vma, vm_file);
	ret->version = vma_version(vma, flags);
	return address >= ret->start && address < ret->end ? VMA_FOUND : VMA_NONE;
}
