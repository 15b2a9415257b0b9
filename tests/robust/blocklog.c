/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A disk that logs the order of its writes, so that a power cut can be simulated at any of them:
 *
 *	blocklog IMAGE LOG MOUNTPOINT	(stays in the foreground)
 *
 * MOUNTPOINT contains "disk", the bytes of IMAGE, to be attached to a loop device, and "mark". LOG
 * is a sequence of records {u64 offset, u32 length, u32 kind} in host order, each followed by
 * length bytes. The kinds are KIND_WRITE; KIND_FLUSH, after which everything before is on the disk;
 * KIND_MARK, a write to "mark".
 */
#define FUSE_USE_VERSION 35
#include "base/macro.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum kind { KIND_WRITE, KIND_FLUSH, KIND_MARK };

struct record {
	uint64_t offset;
	uint32_t length, kind;
};

static int image, journal;

static bool is_disk(const char *path)
{
	return !strcmp(path, "/disk");
}

static int note(enum kind kind, const char *bytes, size_t size, off_t offset)
{
	const struct record r = { (uint64_t)offset, (uint32_t)size, kind };
	const struct iovec parts[] = { { (void *)&r, sizeof(r) }, { (void *)bytes, size } };

	return writev(journal, parts, 2) == (ssize_t)(sizeof(r) + size) ? 0 : -EIO;
}

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	(void)fi;
	if (fstat(image, st) < 0)
		return -errno;
	if (!strcmp(path, "/"))
		st->st_mode = S_IFDIR | 0700;
	else if (!strcmp(path, "/mark"))
		st->st_size = 0;
	else if (!is_disk(path))
		return -ENOENT;
	return 0;
}

static int open_file(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	fi->direct_io = 1;
	return 0;
}

static int read_file(const char *path, char *bytes, size_t size, off_t offset,
		     struct fuse_file_info *fi)
{
	ssize_t n = is_disk(path) ? pread(image, bytes, size, offset) : 0;

	(void)fi;
	return n < 0 ? -errno : (int)n;
}

static int write_file(const char *path, const char *bytes, size_t size, off_t offset,
		      struct fuse_file_info *fi)
{
	int r = note(is_disk(path) ? KIND_WRITE : KIND_MARK, bytes, size, offset);

	(void)fi;
	if (r == 0 && is_disk(path) && pwrite(image, bytes, size, offset) != (ssize_t)size)
		r = -EIO;
	return r < 0 ? r : (int)size;
}

static int sync_file(const char *path, int data_only, struct fuse_file_info *fi)
{
	(void)data_only;
	(void)fi;
	return is_disk(path) ? note(KIND_FLUSH, NULL, 0, 0) : 0;
}

static int truncate_file(const char *path, off_t size, struct fuse_file_info *fi)
{
	(void)size;
	(void)fi;
	return is_disk(path) ? -EPERM : 0;
}

static const struct fuse_operations operations = {
	.getattr = get_attributes,
	.open = open_file,
	.read = read_file,
	.write = write_file,
	.fsync = sync_file,
	.truncate = truncate_file,
};

int main(int argc, char **argv)
{
	char foreground[] = "-f", single[] = "-s";
	char *arguments[] = { argv[0], foreground, single, argc == 4 ? argv[3] : NULL, NULL };

	if (argc != 4)
		return 2;
	image = open(argv[1], O_RDWR | O_CLOEXEC);
	journal = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (image < 0 || journal < 0) {
		perror("blocklog");
		return 1;
	}
	return fuse_main(4, arguments, &operations, NULL);
}
