/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A slow disk: slow_disk IMAGE MOUNTPOINT (stays in the foreground). MOUNTPOINT contains "disk",
 * the bytes of IMAGE, to be attached to a loop device. Each write to it, and each flush, takes as
 * many milliseconds as were written to "delay", at first none.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int image, delay_ms;

static int is_disk(const char *path)
{
	return !strcmp(path, "/disk");
}

static void take_time(void)
{
	int ms = __atomic_load_n(&delay_ms, __ATOMIC_SEQ_CST);
	struct timespec pause = { ms / 1000, ms % 1000 * 1000000L };

	(void)nanosleep(&pause, NULL);
}

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *file)
{
	(void)file;
	if (fstat(image, st) < 0)
		return -errno;
	if (!strcmp(path, "/"))
		st->st_mode = S_IFDIR | 0700;
	else if (!strcmp(path, "/delay"))
		st->st_size = 0;
	else if (!is_disk(path))
		return -ENOENT;
	return 0;
}

static int open_file(const char *path, struct fuse_file_info *file)
{
	(void)path;
	file->direct_io = 1;
	return 0;
}

static int read_file(const char *path, char *bytes, size_t size, off_t offset,
		     struct fuse_file_info *file)
{
	ssize_t n = is_disk(path) ? pread(image, bytes, size, offset) : 0;

	(void)file;
	return n < 0 ? -errno : (int)n;
}

static int write_file(const char *path, const char *bytes, size_t size, off_t offset,
		      struct fuse_file_info *file)
{
	char number[16] = "";

	(void)file;
	if (is_disk(path)) {
		take_time();
		return pwrite(image, bytes, size, offset) == (ssize_t)size ? (int)size : -EIO;
	}
	memcpy(number, bytes, size < sizeof(number) ? size : sizeof(number) - 1);
	__atomic_store_n(&delay_ms, atoi(number), __ATOMIC_SEQ_CST);
	return (int)size;
}

static int sync_file(const char *path, int data_only, struct fuse_file_info *file)
{
	(void)data_only, (void)file;
	if (is_disk(path))
		take_time();
	return 0;
}

static int truncate_file(const char *path, off_t size, struct fuse_file_info *file)
{
	(void)size, (void)file;
	return is_disk(path) ? -EPERM : 0;
}

static const struct fuse_operations operations = { .getattr = get_attributes,
						   .open = open_file,
						   .read = read_file,
						   .write = write_file,
						   .fsync = sync_file,
						   .truncate = truncate_file };

int main(int argc, char **argv)
{
	char foreground[] = "-f";
	char *arguments[] = { argv[0], foreground, argc == 3 ? argv[2] : NULL, NULL };

	if (argc != 3)
		return 2;
	image = open(argv[1], O_RDWR | O_CLOEXEC);
	if (image < 0) {
		perror("slow_disk");
		return 1;
	}
	return fuse_main(3, arguments, &operations, NULL);
}
