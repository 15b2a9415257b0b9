/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forbids this process to change files outside of some directories, to run programs and to use TCP
 * (Landlock, landlock(7)). Files that are open already, and reading, are not restricted. Kernels
 * before 6.12 know only a part of the restrictions; those that the kernel knows apply.
 *
 *	static const char *const directories[] = { "/var/cache/oprofile" };
 *	if (landlock_enter(directories, 1, err) == -ENOSYS)
 *		...	the kernel has no Landlock
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

/* Restricts this thread, and all that it starts, for good. In each of the @count directories
 * (those that are NULL are skipped) and below, files and directories may still be written, made,
 * renamed and removed. Sets no_new_privs. 0; -ENOSYS if the kernel has no Landlock or does not use
 * it; or another -errno. */
int landlock_enter(const char *const *directories, size_t count, struct error *err);
/* The same for a thread that opens no files at all: it cannot read what it has not opened yet,
 * either. */
int landlock_enter_closed(struct error *err);
