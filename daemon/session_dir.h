/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prepares the session directory before the daemon writes in it. The daemon trusts the files in it,
 * so only its user may write there, and only its group may read them.
 *
 *	session_dir_prepare("/var/lib/oprofile", 0750, &who, err);	as the user at the start
 */
#pragma once

#include "base/error.h"

#include <sys/types.h>

struct rights;

/* Creates the directory if it is missing, gives it and root's files in it to the user of @who, and
 * sets its group and @mode. 0; -EPERM if another user, or that of @who, could put files into it or
 * replace it, if it is root's and contains more than a session, or if it is a directory of the
 * system, such as /var/lib, or directly below the root directory; -errno. */
int session_dir_prepare(const char *session_dir, mode_t mode, const struct rights *who,
			struct error *err);
