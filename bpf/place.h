/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who was running and where: the parts of a key. */
#pragma once

#include "maps.h"
#include "path.h"

/* Whether other code may come to @address, of the kernel, while its samples are counted: modules,
 * and what is made at run time. */
static __always_inline bool is_passing(__u64 address)
{
	const volatile struct sample_control *c = &control;

	return address - c->text_start >= c->text_bytes;
}

/* Fills the scratch's message about a file, mapped at @region or executed. */
static __always_inline struct sample_image *describe(struct run *run, struct file *file,
						     const struct sample_file *id,
						     const struct sample_region *region)
{
	struct sample_image *image = &run->scratch->image;

	image->kind = SAMPLE_IMAGE;
	image->tgid = run->scratch->key.tgid;
	image->file = *id;
	image->mapped = *region;
	path_fill(file, run->task, image);
	return image;
}

/* Bytes of the message. */
static __always_inline __u64 image_bytes(const struct sample_image *image)
{
	__u32 length = image->length;

	if (length > SAMPLE_PATH_BYTES)
		length = SAMPLE_PATH_BYTES;
	return offsetof(struct sample_image, path) + length;
}

/* Tells the reader of a file seen for the first time; whether it is memory to all but the kernel.
 */
static __noinline int tell_image(struct run *run, struct file *file, const struct sample_file *id,
				 const struct sample_region *region)
{
	struct known_image known = { 0 };
	struct sample_image *image;

	if (!run || !id || !region)
		return 0;
	image = describe(run, file, id, region);
	known.is_memory = image_is_memory(image);
	if (bpf_map_update_elem(&images, id, &known, BPF_NOEXIST))
		return known.is_memory;
	if (image->truncated)
		run->totals->path_truncated++;
	if (tell(image, image_bytes(image))) {
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
	struct sample_key *key = &run->scratch->key;
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
	struct sample_key *key = &run->scratch->key;
	struct sample_region region;
	struct file *file;
	struct vma vma;
	int r = mm ? vma_find(mm, address, run->scratch->node, &vma) : VMA_UNREADABLE;

	if (r != VMA_FOUND) {
		if (r == VMA_NONE)
			run->totals->no_mapping += run->weight;
		else
			run->totals->no_tree += run->weight;
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
