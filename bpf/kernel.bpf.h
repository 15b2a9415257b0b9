/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's structures, with only the fields that the programs read. libbpf takes the offset of
 * each field from the running kernel's BTF when it loads the object (CO-RE), so that one object
 * works on all kernels.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	__u32 s_dev;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	__u32 i_generation;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	void *mnt_ns;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
};

/* What an overlay file system maps instead of its own file, since Linux 6.5. */
struct backing_file {
	struct file file;
	struct path user_path; /* since 6.8; before, f_path is that */
};

struct maple_tree {
	void *ma_root;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
	struct file *vm_file;
	unsigned int vm_lock_seq; /* since Linux 6.4 */
};

typedef struct {
	void *vdso;
} mm_context_t;

struct seqcount {
	unsigned int sequence;
};

typedef struct {
	int counter;
} atomic_t;

struct mm_struct {
	struct maple_tree mm_mt;
	atomic_t mm_users;
	struct seqcount mm_lock_seq; /* a sequence counter since 6.14; before, a plain number */
	unsigned long start_brk, brk, start_stack;
	struct file *exe_file;
	mm_context_t context;
};

struct fs_struct {
	struct path root;
};

struct signal_struct {
	atomic_t live;
};

struct hrtimer {
	int unused;
};

struct hw_perf_event {
	struct hrtimer hrtimer;
};

struct bpf_prog_aux {
	__u32 id;
};

struct bpf_prog {
	struct bpf_prog_aux *aux;
};

struct perf_event_attr {
	__u64 exclude_user : 1, exclude_kernel : 1;
};

struct perf_event {
	struct perf_event_attr attr;
	struct hw_perf_event hw;
	struct bpf_prog *prog;
};

struct user_registers {
	unsigned long tp_value;
};

struct thread_struct {
	unsigned long fsbase;	  /* x86 */
	struct user_registers uw; /* AArch64 */
};

/* AArch64: the rest of a thread's registers. */
struct pt_regs___call {
	int syscallno;
};

struct task_struct {
	struct thread_struct thread;
	unsigned int flags, __state;
	unsigned int in_execve : 1, in_iowait : 1;
	void *stack, *vfork_done;
	struct mm_struct *mm;
	int pid, tgid;
	struct task_struct *group_leader;
	__u64 start_boottime, self_exec_id;
	char comm[16];
	struct fs_struct *fs;
	struct signal_struct *signal;
};

#pragma clang attribute pop

/* task_struct.flags: the task is exiting; it is a kernel thread. Unchanged since Linux 2.6.17. */
enum { TASK_EXITING = 0x00000004, KERNEL_THREAD = 0x00200000 };

/* task_struct.__state: the task has ended. The same bit since Linux 4.14. */
enum {
	TASK_SLEEPS_DEEPLY = 2, /* TASK_UNINTERRUPTIBLE */
	TASK_STOPPED_OR_TRACED = 4 | 8,
	TASK_DEAD = 0x80,
	TASK_NO_LOAD = 0x400,
};
