/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session directory before the daemon writes in it: nobody but its user may put anything there,
 * for what is there is trusted, and nobody but its group may read it.
 *
 *	session_dir_prepare("/var/lib/oprofile", 0750, &who, err);	as the user at the start
 */
#pragma once

#include "base/error.h"

#include <sys/types.h>

struct rights;

/* Makes the directory where it is missing, gives it, and what root wrote in it before, to the user
 * of @who, sets its group and @mode. 0; -EPERM if somebody else could put files into it or another
 * directory in its place; -errno. */
int session_dir_prepare(const char *session_dir, mode_t mode, const struct rights *who,
			struct error *err);
