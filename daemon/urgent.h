/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A higher priority for threads that must get a CPU soon on a busy machine.
 *
 *	log_info("requests are answered at %s", urgent_enter());	in the thread
 *	log_info("samples are drained at %s", urgent_prefer(true));	in another one
 */
#pragma once

#include <stdbool.h>

/* Gives the calling thread real-time priority 1, or else niceness -10, or else leaves it as it is.
 * From then on a real-time thread that runs for a second without waiting ends this process. Returns
 * what the thread has, for the log. */
const char *urgent_enter(void);
/* Gives the calling thread, and those that it starts later, niceness -10 and short slices of time,
 * or leaves it as it is. If nobody else's processes are in its session, prefers that session, too.
 * Returns what the thread has, for the log. */
const char *urgent_prefer(bool has_session);
