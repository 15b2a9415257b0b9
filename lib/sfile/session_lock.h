/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lock of a session directory DIR, which says that a profiler writes to it.
 *
 *	_cleanup_close_ int lock = session_lock(session_dir, err);
 *	if (lock < 0)
 *		return lock;
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* Takes the lock that the only writer of DIR holds, and creates DIR if it is missing. It is a
 * record lock on DIR/lock, which the kernel releases when its holder dies. Only the owner may open
 * that file, since any lock on it would keep the writer out; others see the holder in DIR/writer.
 * Returns the lock's file descriptor, which the caller closes to unlock; -EBUSY with the holder's
 * pid in @err; or -errno. */
int session_lock(const char *session_dir, struct error *err);
/* Returns the pid of the process that holds the lock, 0 if none does, or if this user may not see
 * that. */
uint32_t session_lock_holder(const char *session_dir);
