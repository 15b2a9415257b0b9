/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories that root writes in, reached by a path that nobody else can redirect. Who owns a
 * directory of the path, may write there, or owns a symbolic link on the way, decides what is
 * found below.
 *
 *	const struct dir_trust nobody = { 0 };	but root
 *	_cleanup_close_ int fd = trusted_dir_open("/var/lib/oprofile", 0750, &nobody, err);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Who is trusted besides root. Zero: nobody. */
struct dir_trust {
	uid_t uid;     /* may own directories and links */
	gid_t gid;     /* may write in them */
	bool last_too; /* whether the directory itself is checked, not only those above it */
};

/* Opens the directory @path for reading. Goes down from the root directory by descriptors, resolves
 * symbolic links itself, and creates what is missing, the directory with @mode, those above it with
 * 0755. Directories with a sticky bit may be writable by all. Where a user namespace does not know
 * the owner, it is taken to be root. Returns the descriptor, caller closes; -EPERM if somebody who
 * is not trusted could redirect the path, with an error that names the place; -errno. */
int trusted_dir_open(const char *path, mode_t mode, const struct dir_trust *who, struct error *err);
