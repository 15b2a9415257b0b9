/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening files that somebody else may have put there: files of a session, of a profiled process,
 * or named by a binary. Merely opening a device can act (a watchdog, a tape), and opening a FIFO or
 * a file with a lease (fcntl(2), F_SETLEASE) can wait. Here only a regular file is ever opened:
 *
 * 1. open(2) with O_PATH finds the file and does not open it: no driver, no FIFO and no lease
 *    notices. O_NOFOLLOW as asked.
 * 2. fstat(2) must say that it is a regular file.
 * 3. It is opened through /proc/self/fd with O_NONBLOCK. That link leads to the very file that was
 *    examined, whatever its name leads to by now. A lease that forbids this gives EWOULDBLOCK at
 *    once; its holder is asked by the kernel to give it up, so a later attempt can succeed.
 *
 * O_NONBLOCK stays set; it has no effect on reads and writes of regular files. O_CLOEXEC and
 * O_NOCTTY are always set. The caller owns and closes each descriptor.
 *
 *	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
 *	if (fd < 0)
 *		return error_set(err, fd, "%s: %s", path, open_regular_why(fd));
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Opens the regular file @path with @flags: an access mode and O_APPEND, O_NOFOLLOW, O_TRUNC.
 * Returns a descriptor or -errno: -EISDIR if it is a directory, -EMEDIUMTYPE if it is anything else
 * but a regular file, -ELOOP if it is a link and @flags has O_NOFOLLOW, -EWOULDBLOCK if a lease
 * forbids it, -EOPNOTSUPP if /proc is not mounted. */
int open_regular(const char *path, int flags);
/* The same with @path relative to the open directory @directory, as in openat(2). */
int open_regular_at(int directory, const char *path, int flags);
/* Finds @path, where @root is the root directory of all links and ".." in it (openat2(2),
 * RESOLVE_IN_ROOT): for paths as a process in another mount namespace sees them. It may wait for
 * the server of a file system. Opens nothing: returns a descriptor with O_PATH, also of a
 * directory, or of a link at the end; or -errno. */
int open_regular_find(int root, const char *path);
/* Opens what was found, as open_regular(). */
int open_regular_found(int handle, int flags);
/* As open_regular() with O_RDONLY and O_NOFOLLOW, in two system calls instead of five: for sample
 * files, of which a report opens thousands. It may open a FIFO, without a wait, before it refuses
 * it; a device has no such name, and links are not followed. */
int open_regular_sample(const char *path);
/* As open_regular() for reading; NULL with errno. */
FILE *open_regular_stream(const char *path);

/* As open_regular() with O_NOFOLLOW; creates the file with @mode if there is none. */
int open_regular_or_create(const char *path, int flags, mode_t mode);
/* Creates the file @path, with @mode, and opens it with @flags. What had this name is removed,
 * never opened or followed. A descriptor or -errno. */
int open_regular_new(const char *path, int flags, mode_t mode);

/* The reason for the failure @r of one of these functions, as a phrase; never freed. */
const char *open_regular_why(int r);
