/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who was running and where: the parts of a key. */
#pragma once

#include "mapping.bpf.h"

/* Whether other code may come to @address, of the kernel, while its samples are counted: modules,
 * and what is made at run time. */
static __always_inline bool is_passing(__u64 address)
{
	const volatile struct sample_control *c = &control;

	return address - c->text_start >= c->text_bytes;
}

/* Fills in the application. */
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
	/* Its memory is what a process gives back last, and the memory's program is known until
	 * all of it is. */
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

/* Fills in image and offset of @address in user space; false where it is in none, which is
 * counted. */
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
