/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/internal/cookie_handle.h"

#include "base/mem.h"
#include "base/path.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* FILEID_INO32_GEN of include/linux/exportfs.h: ext2 to ext4, XFS with small inode numbers, and
 * whatever has no handles of its own. */
struct inode_handle {
	struct file_handle head;
	uint32_t inode, generation;
};
enum { HANDLE_INODE_GENERATION = 1 };

/* Whether a line of mountinfo is about the file system of @device; where it is mounted goes to
 * *@ret, which the caller frees. */
static bool mounts_device(const char *line, uint64_t device, char **ret)
{
	unsigned int id, parent, major, minor;
	_cleanup_free_ char *point = NULL;

	if (sscanf(line, "%u %u %u:%u %*s %ms", &id, &parent, &major, &minor, &point) != 5 ||
	    ((uint64_t)major << 32 | minor) != device)
		return false;
	*ret = STEAL(point);
	return true;
}

/* Any mount of @device, opened; -1 if there is none. A mount point with a blank in its name, which
 * mountinfo writes otherwise, is passed over: a file system has more than one mostly. */
static int open_mount(uint64_t device)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/mountinfo", "re");
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	int fd = -1;

	while (f && fd < 0 && xgetline(&line, &room, f) > 0) {
		_cleanup_free_ char *point = NULL;

		if (mounts_device(line, device, &point))
			fd = open(point, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	return fd;
}

int cookie_handle_open(const struct cookie_image *image)
{
	struct inode_handle handle = {
		.head = { .handle_bytes = 2 * sizeof(uint32_t),
			  .handle_type = HANDLE_INODE_GENERATION },
		.inode = (uint32_t)image->inode,
		.generation = (uint32_t)image->generation,
	};
	_cleanup_close_ int mount = -1;

	/* Without a generation it may be another file by now. */
	if (!image->generation || !image->inode || image->inode > UINT32_MAX)
		return -1;
	mount = open_mount(image->device);
	if (mount < 0)
		return -1;
	return open_by_handle_at(mount, &handle.head, O_PATH | O_CLOEXEC);
}
