/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Becomes a daemon, with an exit status that shows whether it started.
 *
 *	r = background_enter(&ready, err);	the parent stays in here and exits
 *	...	set up, with messages to stderr; exiting here means failure
 *	background_ready(&ready);
 */
#pragma once

#include "base/error.h"

/* Forks. Returns 0 in the daemon, which has its own session, or -errno. The parent waits and exits:
 * 0 after background_ready(), 1 if the daemon ends before. */
int background_enter(int *ret_ready, struct error *err);

/* Reports success to the parent, redirects stdin and stdout to /dev/null, closes *@ready. */
void background_ready(int *ready);
