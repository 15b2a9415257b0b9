/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fills in the application of a key: the executable of the process, or the name of a kernel thread.
 * A process releases its memory, and with it its executable, before it ends, and may then spend a
 * long time in the kernel. So the executables of all processes are kept here.
 */
#pragma once

#include "follow.bpf.h"
#include "image.bpf.h"
#include "maps.bpf.h"

#include <linux/errno.h>

/* By tgid, for all processes that are not yet freed. Locks: changed by the programs that watch
 * processes, never in an NMI. Before Linux 6.7 one in a softirq may find the lock taken (EBUSY):
 * then an entry stays until the number is used again. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct executable);
	__uint(max_entries, 65536);
} executables SEC(".maps");

static __always_inline bool is_main_thread(struct task_struct *task)
{
	return BPF_CORE_READ(task, pid) == BPF_CORE_READ(task, tgid);
}

static __always_inline void count_full(void)
{
	__u32 slot = SAMPLE_SLOT_PROCESS;
	struct sample_counters *totals = bpf_map_lookup_elem(&counters, &slot);

	if (totals)
		totals->exe_full++;
}

/* Keeps the executable of @task. Returns the file, and its identity in *@ret; NULL for a kernel
 * task, which has none. */
static __always_inline struct file *keep_executable(struct task_struct *task, __u64 flags,
						    struct sample_file *ret)
{
	struct file *file = BPF_CORE_READ(task, mm, exe_file);
	struct executable e = { .started_ns = BPF_CORE_READ(task, group_leader, start_boottime) };
	__u32 tgid = BPF_CORE_READ(task, tgid);

	if (!file)
		return NULL;
	file_identity(BPF_CORE_READ(file, f_inode), &e.file);
	if (bpf_map_update_elem(&executables, &tgid, &e, flags) == -E2BIG)
		count_full();
	*ret = e.file;
	return file;
}

/* Keeps the executable of @task, which @executes it now, and makes sure that user space knows the
 * file. */
static __always_inline void meet_executable(struct task_struct *task, __u64 flags, bool executes)
{
	static const struct sample_region nowhere = { 0 };
	struct sample_file id;
	struct file *file = keep_executable(task, flags, &id);
	struct run run;

	if (!file || !run_begin(&run, SAMPLE_SLOT_PROCESS) ||
	    __sync_lock_test_and_set(&run.scratch->busy, 1))
		return;
	run.task = task;
	run.scratch->key.tgid = BPF_CORE_READ(task, tgid);
	run.executes = executes && !is_filtered(run.scratch->key.tgid);
	(void)meet_image(&run, file, &id, &nowhere);
	run.scratch->busy = 0;
}

/* The new process has the executable of its parent, which is known. */
SEC("raw_tp/sched_process_fork")
int app_fork(__u64 *context)
{
	struct task_struct *child = (void *)context[1];
	struct sample_file id;

	if (is_main_thread(child))
		(void)keep_executable(child, BPF_ANY, &id);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int app_exec(__u64 *context)
{
	meet_executable((void *)context[0], BPF_ANY, true);
	return 0;
}

SEC("raw_tp/sched_process_free")
int app_free(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	__u32 tgid = BPF_CORE_READ(task, tgid);
	const struct executable *e = bpf_map_lookup_elem(&executables, &tgid);

	/* The number may belong to another process by now. */
	if (e && is_main_thread(task) && e->started_ns == BPF_CORE_READ(task, start_boottime))
		bpf_map_delete_elem(&executables, &tgid);
	return 0;
}

/* Runs once at the start, for the existing tasks. */
SEC("iter/task")
int app_each(__u64 *context)
{
	struct task_struct *task = (void *)context[1];

	if (task && is_main_thread(task))
		meet_executable(task, BPF_NOEXIST, false);
	return 0;
}

/* The executable of a process without memory; false if it is not known. */
static __always_inline bool place_kept(struct run *run)
{
	struct sample_key *key = &run->scratch->key;
	const struct executable *e = bpf_map_lookup_elem(&executables, &key->tgid);

	if (!e || e->started_ns != run->task->group_leader->start_boottime)
		return false;
	key->app_kind = SAMPLE_APP_FILE;
	key->app.file = e->file;
	return true;
}

static __always_inline void place_file(struct run *run, struct file *file)
{
	static const struct sample_region nowhere = { 0 };
	struct sample_key *key = &run->scratch->key;
	struct mappings *m = &run->scratch->mappings;

	key->app_kind = SAMPLE_APP_FILE;
	if (m->exe_file != (__u64)file) {
		file_identity(file->f_inode, &m->app);
		(void)meet_image(run, file, &m->app, &nowhere);
		m->exe_file = (__u64)file;
	}
	key->app.file = m->app;
}

static __always_inline void place_app(struct run *run)
{
	struct task_struct *task = run->task;
	struct sample_key *key = &run->scratch->key;
	bool is_kernels = task->flags & KERNEL_THREAD;
	struct mm_struct *mm = task->mm;
	struct file *file = mm && !is_kernels ? mm->exe_file : NULL;

	if (file) {
		place_file(run, file);
		return;
	}
	/* active_mm does not help: it is the memory of the task that ran before on this CPU. */
	if (!is_kernels && (place_kept(run) || task->flags & TASK_EXITING))
		return;
	/* The kernel's own, or its helper that has not called execve() yet. */
	key->app_kind = SAMPLE_APP_THREAD;
	BPF_CORE_READ_STR_INTO(&key->app.comm, task, comm);
}
