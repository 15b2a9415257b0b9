/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An fsync(2), the library's, too, that cannot write directories to the disk while a test says so.
 * Include it once in a program.
 *
 *	directories_fail = true;
 *	CHECK_EQ(path_replace(path, "text", 0644, NULL), PATH_UNSYNCED);
 *	directories_fail = false;
 */
#pragma once

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_bool directories_fail;

int fsync(int fd)
{
	struct stat st;

	if (directories_fail && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}
