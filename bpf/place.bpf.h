/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fills in the parts of a key that say who was running, and where. */
#pragma once

#include "mapping.bpf.h"

/* Whether @address, in the kernel, is in code that may be replaced while its samples are counted:
 * modules, and code generated at run time. */
static __always_inline bool is_passing(__u64 address)
{
	const volatile struct sample_control *c = &control;

	return address - c->text_start >= c->text_bytes;
}

/* Fills in the application: the executable, or the name of a kernel thread. */
static __always_inline void place_app(struct run *run)
{
	static const struct sample_region nowhere = { 0 };
	struct task_struct *task = run->task;
	struct sample_key *key = &run->scratch->key;
	struct mappings *m = &run->scratch->mappings;
	struct mm_struct *mm = task->mm;
	struct file *file;

	if (task->flags & KERNEL_THREAD) {
		key->app_kind = SAMPLE_APP_THREAD;
		BPF_CORE_READ_STR_INTO(&key->app.comm, task, comm);
		return;
	}
	/* An exiting process gives up its memory late, and the executable is known until the memory
	 * is gone. */
	if (!mm)
		mm = task->active_mm;
	file = mm ? mm->exe_file : NULL;
	if (!file)
		return;
	key->app_kind = SAMPLE_APP_FILE;
	if (m->exe_file != (__u64)file) {
		file_identity(file->f_inode, &m->app);
		(void)meet_image(run, file, &m->app, &nowhere);
		m->exe_file = (__u64)file;
	}
	key->app.file = m->app;
}

/* Fills in the image and the offset of @address in user space. Returns false, and counts it, if the
 * address is in no mapping. */
static __always_inline bool place_user(struct run *run, __u64 address)
{
	struct sample_key *key = &run->scratch->key;
	const struct mapping *v = run->task->mm ? mapping_at(run, address) : NULL;

	if (!v) {
		if (run->task->mm && run->scratch->mappings.result == VMA_NONE)
			run->totals->no_mapping += run->weight;
		else
			run->totals->no_tree += run->weight;
		return false;
	}
	key->place = v->place;
	key->offset = address - v->start + v->offset;
	key->image.file = v->image.file;
	return true;
}
