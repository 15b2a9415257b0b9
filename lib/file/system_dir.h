/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories that serve the whole system, such as /, /usr/lib or /var/lib: a session must not be
 * written into one because of a wrong --session-dir.
 *
 *	r = system_dir_refuse(session_dir, err);
 */
#pragma once

#include "base/error.h"

/* Returns -EPERM, with an error that has the remedy, if @path, with its links resolved, is such a
 * directory, or may be one: if it is directly below / and contains something other than a session.
 * Returns 0 if not; -errno if it cannot be resolved, -ENOENT if there is none. */
int system_dir_refuse(const char *path, struct error *err);
