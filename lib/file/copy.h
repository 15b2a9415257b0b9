/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies a file with its mode and times, whole or not at all.
 *
 *	if (copy_file("/usr/bin/xz", 0, "archive/usr/bin/xz", err) < 0) ...
 */
#pragma once

#include "base/error.h"

/* Copies the content of the file @from to @to, which is replaced, and gives it the permissions and
 * the modification time of @from; missing directories are made. @flags are O_NOFOLLOW or 0. A file
 * of /proc, which says that it is empty, is read to its end. After owner_become(), it is read with
 * the owner's rights and written with root's. 0 or -errno. Call it while no other thread creates
 * files: it changes the umask for a moment. */
int copy_file(const char *from, int flags, const char *to, struct error *err);
