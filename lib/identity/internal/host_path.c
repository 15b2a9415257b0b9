/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/internal/host_path.h"

#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "file/procfs.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* FILEID_INO32_GEN of include/linux/exportfs.h: ext2 to ext4, XFS with small inode numbers, and all
 * file systems that define no handles of their own. */
struct inode_handle {
	struct file_handle head;
	uint32_t inode, generation;
};
enum { HANDLE_INODE_GENERATION = 1 };

/* A mount of a device: what to look for, and the open mount point. */
struct device_mount {
	uint64_t device;
	int fd;
};

static int open_if_device(const struct mount_line *m, void *data)
{
	struct device_mount *want = data;

	if (((uint64_t)m->major << 32 | m->minor) == want->device)
		want->fd = open(m->point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return want->fd >= 0;
}

int host_open(const struct cookie_image *image)
{
	struct inode_handle handle = {
		.head = { .handle_bytes = 2 * sizeof(uint32_t),
			  .handle_type = HANDLE_INODE_GENERATION },
		.inode = (uint32_t)image->file.inode,
		.generation = (uint32_t)image->file.generation,
	};
	struct device_mount mount = { image->file.device, -1 };
	int fd;

	/* Without a generation it may be another file by now. */
	if (!image->file.generation || !image->file.inode || image->file.inode > UINT32_MAX ||
	    procfs_mounts("", 0, open_if_device, &mount) <= 0)
		return -1;
	fd = open_by_handle_at(mount.fd, &handle.head, O_PATH | O_CLOEXEC);
	(void)close(mount.fd);
	return fd;
}

/* Whether @path leads to the file. */
static bool is_at(const struct host_file *f, const char *path)
{
	struct stat st;

	return path_is_absolute(path) && stat(path, &st) == 0 && st.st_dev == f->st->st_dev &&
	       st.st_ino == f->st->st_ino;
}

/* What the kernel calls the file that is open, if that is true here; or NULL. */
static char *path_of_open(const struct host_file *f, int fd)
{
	_cleanup_free_ char *link = xasprintf("/proc/self/fd/%d", fd);
	char path[PATH_MAX];
	ssize_t n = readlink(link, path, sizeof(path) - 1);

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	return is_at(f, path) ? xstrdup(path) : NULL;
}

/* By its inode, in a mount of that file system that we have; or NULL. */
static char *path_of_inode(const struct host_file *f)
{
	_cleanup_close_ int fd = host_open(f->image);

	return fd < 0 ? NULL : path_of_open(f, fd);
}

/* --- overlays --- */

/* An overlay as the process has it mounted, and the device to find it by. */
struct overlay {
	dev_t device;
	char *root, *point, *options;
};

static void overlay_done(struct overlay *o)
{
	free(o->root);
	free(o->point);
	free(o->options);
}

static int take_overlay(const struct mount_line *m, void *data)
{
	struct overlay *o = data;

	if (strcmp(m->type, "overlay") != 0 || makedev(m->major, m->minor) != o->device)
		return 0;
	o->root = xstrdup(m->root);
	o->point = xstrdup(m->point);
	o->options = xstrdup(m->options);
	return 1;
}

/* A file in the layers: where it would be, and the answer. */
struct layers {
	const struct host_file *file;
	const char *below; /* the layer's directory */
	char *found;
};

/* A file keeps size and time on its way up. */
static int try_layer(const char *directory, void *data)
{
	struct layers *l = data;
	_cleanup_free_ char *path = path_join(directory, l->below);
	const struct stat *want = l->file->st;
	struct stat st;

	if (!path_is_absolute(directory) || stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size != want->st_size || st.st_mtime != want->st_mtime)
		return 0;
	l->found = STEAL(path);
	return 1;
}

/* The options name the layers as upperdir=DIR and lowerdir=DIR:DIR. */
static int try_option(const char *option, void *data)
{
	if (!strncmp(option, "upperdir=", 9))
		return try_layer(option + 9, data);
	if (!strncmp(option, "lowerdir=", 9))
		return parse_list(option + 9, ':', try_layer, data);
	return 0;
}

/* In the layer that it came from; or NULL. */
static char *path_in_layer(const struct host_file *f)
{
	_cleanup_(overlay_done) struct overlay o = { .device = f->st->st_dev };
	_cleanup_free_ char *below = NULL;
	struct layers layers = { .file = f };
	const char *rest = f->image->path;
	size_t length;

	if (!f->tgid || procfs_mounts("", f->tgid, take_overlay, &o) <= 0)
		return NULL;
	length = strcmp(o.point, "/") ? strlen(o.point) : 0;
	if (strncmp(rest, o.point, length) != 0 || rest[length] != '/')
		return NULL;
	below = path_join(o.root, rest + length + 1);
	layers.below = below + strspn(below, "/");
	(void)parse_list(o.options, ',', try_option, &layers);
	return layers.found;
}

char *host_path(const struct host_file *f)
{
	char *path;

	if (!f->st->st_nlink || is_at(f, f->image->path))
		return NULL;
	path = path_of_open(f, f->fd);
	if (!path)
		path = path_of_inode(f);
	if (!path)
		path = path_in_layer(f);
	return path ?: xstrdup("");
}
