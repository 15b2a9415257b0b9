/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Becoming a daemon so that who started it knows whether it came up.
 *
 *	r = background_enter(&ready, err);	the parent stays in here and exits
 *	...	set up, with messages to stderr; to exit now is to fail
 *	background_ready(&ready);
 */
#pragma once

#include "base/error.h"

/* Forks; returns 0 in the daemon, in a session of its own, or -errno. The parent waits for
 * background_ready() and exits 0, or when the daemon ends without it, 1. */
int background_enter(int *ret_ready, struct error *err);

/* Tells the parent that all is well, turns stdin and stdout to /dev/null, closes *@ready. */
void background_ready(int *ready);
