/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/session_lock.h"

#include "base/mem.h"
#include "base/open_regular.h"
#include "base/parse.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the pid in the lock file, 0 if there is none. */
static uint32_t read_pid(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	uint64_t pid = 0;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return parse_u64(text, 1, UINT32_MAX, &pid) < 0 ? 0 : (uint32_t)pid;
}

int session_lock(const char *session_dir, struct error *err)
{
	_cleanup_free_ char *path = path_join(session_dir, "lock");
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	_cleanup_close_ int fd = -1;
	int r = path_make_parents(session_dir, 0755, err);

	if (r < 0)
		return r;
	/* Only the user and the group may see what was running. */
	if (mkdir(session_dir, 0750) < 0 && errno != EEXIST)
		return error_errno(err, -errno, "cannot create the directory %s", session_dir);
	fd = open_regular_or_create(path, O_RDWR, 0644);
	if (fd < 0)
		return error_set(err, fd, "cannot open the lock %s: %s", path,
				 open_regular_why(fd));
	if (fcntl(fd, F_OFD_SETLK, &whole) < 0) {
		if (errno != EAGAIN && errno != EACCES)
			return error_errno(err, -errno, "cannot lock %s", path);
		return error_set(err, -EBUSY, "%s is being written by another profiler (pid %u)",
				 session_dir, read_pid(fd));
	}
	if (ftruncate(fd, 0) < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0)
		return error_errno(err, -errno, "cannot write %s", path);
	return STEAL_FD(fd);
}

uint32_t session_lock_holder(const char *session_dir)
{
	_cleanup_free_ char *path = path_join(session_dir, "lock");
	_cleanup_close_ int fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fd < 0 || fcntl(fd, F_OFD_GETLK, &whole) < 0 || whole.l_type == F_UNLCK)
		return 0;
	return read_pid(fd);
}
