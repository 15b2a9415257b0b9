/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets root work in a directory of another user with the rights of that user. The owner may have
 * put anything there: links to files of others, FIFOs, files that are read wrongly. Whatever root's
 * process is led to, it can then read and change only what the owner can.
 *
 *	r = owner_become(session_dir, OWNER_EXCEPT_OUTPUT, "oprofile", err);
 *	...	read the session
 *	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
 *	...	write what root asked for
 *
 * In processes that root did not start, and for directories of root, all this changes nothing.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

enum owner_extent {
	OWNER_FOR_GOOD,	    /* everything, with no way back */
	OWNER_EXCEPT_OUTPUT /* access to files by this thread, until owner_pause() */
};

/* The rights to return to. */
struct owner_pause {
	uid_t uid; /* 0: none */
	gid_t gid;
	bool reads_all;
};

/* Takes on user, groups and HOME of the owner of @path, a session directory or a file. If root owns
 * a directory, but not 'samples' in it, takes those of the owner of 'samples'. The user called
 * @reader (NULL: none) keeps root's rights to read all files and kernel addresses, for a service
 * that has them itself. 0, also if there is no @path, or if another owner's rights are in use
 * already; or -errno, also if the owner cannot reach @path. Call it while there is one thread. */
int owner_become(const char *path, enum owner_extent extent, const char *reader, struct error *err);
/* Gives up the way back after OWNER_EXCEPT_OUTPUT, as with OWNER_FOR_GOOD. 0 or -errno. */
int owner_stay(void);
/* Makes this thread root again, after OWNER_EXCEPT_OUTPUT, for files that root itself named. */
struct owner_pause owner_pause(void);
/* Ends a pause; the cleanup form. Ends the process if that fails. */
void owner_resume(const struct owner_pause *pause);
