/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A setup that failed, remembered in a file next to daemonrc (its name with ".refused"), so that a
 * later command does not silently use another session directory than the one that was asked for.
 *
 *	refused_setup_note("/etc/oprofile/daemonrc", "/srv/profile", "no user 'x'");
 *	r = refused_setup_check("/etc/oprofile/daemonrc", err);
 *	refused_setup_forget("/etc/oprofile/daemonrc");
 */
#pragma once

#include "base/error.h"

/* Notes that a setup for @session_dir failed for the reason @why, unless the settings in the file
 * @rc_path have that directory anyway. Best effort. */
void refused_setup_note(const char *rc_path, const char *session_dir, const char *why);
/* 0, or -ECANCELED with the reason of the setup that failed. */
int refused_setup_check(const char *rc_path, struct error *err);
/* Removes the note, if there is one. */
void refused_setup_forget(const char *rc_path);
