/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/open_regular.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const descriptors = "/proc/self/fd";

/* 0 for a regular file, else -errno. */
static int check_kind(const struct stat *st)
{
	if (S_ISDIR(st->st_mode) || S_ISLNK(st->st_mode))
		return S_ISDIR(st->st_mode) ? -EISDIR : -ELOOP;
	return S_ISREG(st->st_mode) ? 0 : -EMEDIUMTYPE;
}

/* Opens what @handle, a descriptor of O_PATH or -1 with errno, refers to. */
static int reopen(int handle, int flags)
{
	struct stat st;
	char path[32];
	int fd, r;

	if (handle < 0 || fstat(handle, &st) < 0)
		return -errno;
	r = check_kind(&st);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "%s/%d", descriptors, handle);
	fd = open(path, (flags & ~O_NOFOLLOW) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0)
		return fd;
	return errno == ENOENT && access(descriptors, F_OK) < 0 ? -EOPNOTSUPP : -errno;
}

int open_regular_at(int directory, const char *path, int flags)
{
	_cleanup_close_ int handle =
		openat(directory, path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));

	return reopen(handle, flags);
}

int open_regular(const char *path, int flags)
{
	return open_regular_at(AT_FDCWD, path, flags);
}

int open_regular_sample(const char *path)
{
	_cleanup_close_ int fd =
		open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	r = check_kind(&st);
	return r < 0 ? r : STEAL_FD(fd);
}

int open_regular_find(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int open_regular_found(int handle, int flags)
{
	char through[64];

	(void)snprintf(through, sizeof(through), "/proc/self/fd/%d", handle);
	return open_regular(through, flags & ~O_NOFOLLOW);
}

FILE *open_regular_stream(const char *path)
{
	int fd = open_regular(path, O_RDONLY);
	FILE *stream;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	stream = xfdopen(fd, "r");
	if (!stream)
		(void)close(fd);
	return stream;
}

int open_regular_or_create(const char *path, int flags, mode_t mode)
{
	int fd, attempts = 3; /* another process may remove or create it in between */

	do {
		fd = open_regular(path, flags | O_NOFOLLOW);
		if (fd == -ENOENT) {
			fd = open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, mode);
			fd = fd < 0 ? -errno : fd;
		}
	} while (fd == -EEXIST && --attempts);
	return fd;
}

int open_regular_new(const char *path, int flags, mode_t mode)
{
	int fd = open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	if (fd < 0 && errno == EEXIST) {
		if (unlink(path) < 0)
			return -errno;
		fd = open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	}
	return fd < 0 ? -errno : fd;
}

const char *open_regular_why(int r)
{
	if (r == -EMEDIUMTYPE)
		return "not a regular file";
	if (r == -EWOULDBLOCK)
		return "another process holds a lease on it; try again";
	if (r == -EOPNOTSUPP)
		return "/proc is not mounted: mount it";
	return strerror(-r);
}
