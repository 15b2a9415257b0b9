/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/session_lock.h"

#include "base/mem.h"
#include "file/open_regular.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Returns when the process started, in clock ticks since the boot; 0 if there is none. With the pid
 * it names a process for as long as the machine runs. */
static unsigned long long start_of(uint32_t pid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%u/stat", pid), *text = NULL;
	unsigned long long start = 0;
	const char *after;

	/* The command, in parentheses, may contain anything. */
	if (path_read(NULL, path, &text, NULL) > 0 && (after = strrchr(text, ')')))
		(void)sscanf(after,
			     ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
			     "%*d %*d %*d %llu",
			     &start);
	return start;
}

/* Writes the holder into the open file of the lock, or of those who may not open that. */
static int write_holder(int fd)
{
	uint32_t pid = (uint32_t)getpid();

	return ftruncate(fd, 0) < 0 || dprintf(fd, "%u %llu\n", pid, start_of(pid)) < 0 ? -errno
											: 0;
}

/* Reads what write_holder() has written. Returns the pid, 0 if there is none. */
static uint32_t read_holder(int fd, unsigned long long *ret_start)
{
	char text[64];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	uint32_t pid = 0;

	text[MAX(n, 0)] = '\0';
	return sscanf(text, "%u %llu", &pid, ret_start) >= 1 ? pid : 0;
}

static int open_file(const char *session_dir, const char *name, mode_t mode, struct error *err)
{
	_cleanup_free_ char *path = path_join(session_dir, name);
	int fd = open_regular_or_create(path, O_RDWR, mode);

	return fd < 0 ? error_set(err, fd, "cannot open the lock %s: %s", path,
				  open_regular_why(fd))
		      : fd;
}

int session_lock(const char *session_dir, struct error *err)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	_cleanup_close_ int fd = -1, seen = -1;
	unsigned long long start;
	struct stat st;
	int r = path_make_parents(session_dir, 0755, err);

	if (r == 0) /* Only the user and the group may see what was running. */
		r = path_make_dirs(session_dir, 0750, err);
	if (r < 0)
		return r;
	fd = open_file(session_dir, "lock", 0600, err);
	if (fd < 0)
		return fd;
	if (fcntl(fd, F_OFD_SETLK, &whole) < 0) {
		if (errno != EAGAIN && errno != EACCES)
			return error_errno(err, -errno, "cannot lock %s/lock", session_dir);
		return error_set(err, -EBUSY, "%s is being written by another profiler (pid %u)",
				 session_dir, read_holder(fd, &start));
	}
	/* Earlier versions let everybody read the lock. */
	if (fstat(fd, &st) == 0 && st.st_mode & 077)
		(void)fchmod(fd, 0600);
	seen = open_file(session_dir, "writer", 0644, err);
	if (seen < 0)
		return seen;
	if ((r = write_holder(fd)) < 0 || (r = write_holder(seen)) < 0)
		return error_errno(err, r, "cannot write %s/lock", session_dir);
	return STEAL_FD(fd);
}

/* Returns the holder for those who may not open the lock. */
static uint32_t holder_seen(const char *session_dir)
{
	_cleanup_free_ char *path = path_join(session_dir, "writer");
	_cleanup_close_ int fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
	unsigned long long start = 0;
	uint32_t pid = fd < 0 ? 0 : read_holder(fd, &start);

	return pid && start && start_of(pid) == start ? pid : 0;
}

uint32_t session_lock_holder(const char *session_dir)
{
	_cleanup_free_ char *path = path_join(session_dir, "lock");
	_cleanup_close_ int fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	unsigned long long start;

	if (fd < 0)
		return holder_seen(session_dir);
	if (fcntl(fd, F_OFD_GETLK, &whole) < 0 || whole.l_type == F_UNLCK)
		return 0;
	return read_holder(fd, &start);
}
