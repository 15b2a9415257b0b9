/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose files operf trusts when it runs as root: those of root, and of the user who runs it with
 * sudo.
 *
 *	if (session_owner_check("/home/me/oprofile_data", &err) < 0)
 *		return tool_fail(&err);
 */
#pragma once

#include "base/error.h"

#include <sys/types.h>

/* The user who runs us, maybe through sudo. */
uid_t session_owner_uid(void);
/* Creates @directory if it is missing, and refuses to write there as root if another user could
 * plant links in the session, or owns or may write a directory above it; that is nothing for other
 * users. Refuses for all users a directory of the system that is no session. 0, -EPERM or
 * -errno. */
int session_owner_check(const char *directory, struct error *err);
