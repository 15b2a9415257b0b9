/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What opcontrol does with stored sessions. Output goes to stdout.
 *
 *	r = session_action_list("/var/lib/oprofile", false, err);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* Lists the sessions: when they were recorded, by what, how large they are. 0 or -errno. */
int session_action_list(const char *session_dir, bool json, struct error *err);
/* Lists what the history of each session has. 0 or -errno. */
int session_action_history(const char *session_dir, bool json, struct error *err);
/* Deletes the session @name with the rights of its owner. 0 or -errno: -EBUSY if it is being
 * written. */
int session_action_delete(const char *session_dir, const char *name, struct error *err);
