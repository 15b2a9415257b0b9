/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The identity and the path of a file. Programs of this type may not call bpf_d_path(). This walk
 * takes no lock and is bounded; it reads the names as they are at that moment.
 */
#pragma once

#include "kernel.bpf.h"
#include "sample.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

static __always_inline void file_identity(struct inode *inode, struct sample_file *ret)
{
	ret->inode = BPF_CORE_READ(inode, i_ino);
	ret->generation = BPF_CORE_READ(inode, i_generation);
	ret->device = BPF_CORE_READ(inode, i_sb, s_dev);
}

static __always_inline struct mount *mount_of(struct vfsmount *mnt)
{
	return (void *)mnt - bpf_core_field_offset(struct mount, mnt);
}

/* Whether @file is the real file under a file of an overlay. Such files are opened on a clone of
 * the layer's mount, which has no parent and no namespace (NULL, or an error pointer for the
 * kernel's own mounts). So are memfds, but those are in no directory. The flag FMODE_BACKING would
 * show it, but its bit differs between kernels. */
static __always_inline bool file_is_backing(struct file *file)
{
	struct mount *m = mount_of(BPF_CORE_READ(file, f_path.mnt));
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);
	long namespace = (long)BPF_CORE_READ(m, mnt_ns);

	return BPF_CORE_READ(m, mnt_parent) == m && namespace <= 0 && namespace >= -4095 &&
	       BPF_CORE_READ(dentry, d_parent) != dentry;
}

/* A walk up from a file to the root of a process, where its path begins. It is in a map, because
 * the stack has no room, and so has the kernel's addresses as numbers. */
struct path_walk {
	struct dentry *dentry;
	struct mount *mount;
	struct dentry *root_dentry;
	struct mount *root_mount;
	__u32 length;
	__u32 done;
};

struct path_names {
	struct path_walk *w;
	struct sample_image *image;
};

/* Sets up a walk from where processes see @file. */
static __always_inline void path_begin(struct file *file, struct path_walk *w)
{
	struct backing_file *backing = (void *)file;

	if (bpf_core_field_exists(backing->user_path) && file_is_backing(file)) {
		w->mount = mount_of(BPF_CORE_READ(backing, user_path.mnt));
		w->dentry = BPF_CORE_READ(backing, user_path.dentry);
		return;
	}
	w->mount = mount_of(BPF_CORE_READ(file, f_path.mnt));
	w->dentry = BPF_CORE_READ(file, f_path.dentry);
}

/* Appends the name of the dentry; false if it does not fit. */
static __always_inline bool path_add_name(struct path_walk *w, struct sample_image *image)
{
	struct dentry *dentry = w->dentry;
	const unsigned char *name = BPF_CORE_READ(dentry, d_name.name);
	__u32 at = w->length;
	long n;

	if (at > SAMPLE_PATH_BYTES - SAMPLE_NAME_BYTES)
		return false;
	n = bpf_probe_read_kernel_str(image->path + at, SAMPLE_NAME_BYTES, name);
	if (n <= 0 || n > SAMPLE_NAME_BYTES)
		return false;
	w->length = at + n;
	return true;
}

/* Goes up by one name or one mount, for bpf_loop(): returns 1 at the end of the walk. */
static long path_step(__u32 index, struct path_names *names)
{
	struct sample_image *image = names->image;
	struct path_walk *w = names->w;
	struct dentry *dentry = w->dentry, *parent;
	struct mount *mount = w->mount, *above;

	w->done = 1;
	if (dentry == w->root_dentry && mount == w->root_mount)
		return 1;
	parent = BPF_CORE_READ(dentry, d_parent);
	if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		above = BPF_CORE_READ(mount, mnt_parent);
		if (above == mount)
			return 1;
		w->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		w->mount = above;
	} else if (dentry == parent) {
		image->nameless = w->length == 0;
		image->truncated = !path_add_name(w, image);
		return 1;
	} else {
		if (!path_add_name(w, image)) {
			image->truncated = 1;
			return 1;
		}
		w->dentry = parent;
	}
	w->done = 0;
	return 0;
}

/* Fills in what stat() of the file that @w begins at returns. */
__noinline int path_identity(struct path_walk *w, struct sample_image *image)
{
	struct dentry *dentry;

	if (!w || !image)
		return 0;
	dentry = w->dentry;
	file_identity(BPF_CORE_READ(dentry, d_inode), &image->seen);
	return 0;
}

/* Goes along @w, and fills in the path of @image. */
__noinline int path_go(struct path_walk *w, struct sample_image *image)
{
	struct path_names names = { w, image };

	if (!w || !image)
		return 0;
	image->nameless = image->truncated = 0;
	bpf_loop(SAMPLE_PATH_NAMES, path_step, &names, 0);
	image->truncated |= !w->done;
	image->length = w->length;
	return 0;
}

/* Fills in the path of @image, as seen from @task's root, and what stat() of it returns. */
static __always_inline void path_fill(struct path_walk *w, struct file *file,
				      struct task_struct *task, struct sample_image *image)
{
	path_begin(file, w);
	w->root_dentry = BPF_CORE_READ(task, fs, root.dentry);
	w->root_mount = mount_of(BPF_CORE_READ(task, fs, root.mnt));
	w->length = w->done = 0;
	path_identity(w, image);
	path_go(w, image);
}

/* Whether @text begins with the eight bytes of @prefix. */
static __always_inline bool begins(const char *text, const char *prefix)
{
	int i;

	for (i = 0; i < 8; i++)
		if (text[i] != prefix[i])
			return false;
	return true;
}

/* Whether it is shared anonymous memory, which only the kernel knows as a file: "dev/zero", or
 * "anon_hugepage" with huge pages. */
static __always_inline bool image_is_memory(const struct sample_image *image)
{
	return image->nameless &&
	       (begins(image->path, "dev/zero") || begins(image->path, "anon_hug"));
}
