/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A private temporary directory that disappears with the process that made it, even if that is
 * killed: a child process waits for its end and removes the directory. If that is killed, too, the
 * next process that makes one of the same name removes it: a directory that nobody has locked.
 *
 *	struct scratch *s;
 *	if (scratch_new("oprofile-archive", 1 << 20, &s, err) == 0)
 *		...files below scratch_path(s)...
 *	scratch_free(s);
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

struct scratch;

/* Makes a directory below $TMPDIR if that is set, else in /dev/shm if @room bytes are at most a
 * quarter of what is free there, else below /var/tmp or, if there is none, /tmp. Its name starts
 * with @name; only this user may enter it. 0, the caller frees; or -errno. */
int scratch_new(const char *name, uint64_t room, struct scratch **ret, struct error *err);
/* Makes one below @directory that only scratch_free() removes: for a process that can start no
 * other, and whose parent removes @directory. 0, the caller frees; or -errno. */
int scratch_below(const char *directory, const char *name, struct scratch **ret, struct error *err);
/* Its path; borrowed. */
const char *scratch_path(const struct scratch *s);
/* Removes it and everything below it; NULL is fine. */
void scratch_free(struct scratch *s);
DEFINE_CLEANUP(struct scratch *, scratch_free);
/* Frees @s without removing anything: in a child process, whose parent does that. */
void scratch_forget(struct scratch *s);
