/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Niceness (nice(2)) of the calling thread and of its session. In Linux, a thread has its own, and
 * inherits that of the thread that starts it. With CONFIG_SCHED_AUTOGROUP, it only counts within a
 * session (setsid(2)), and a session as a whole has one, too (sched(7)).
 *
 *	niceness_set(19);
 *	niceness_set_session(19);
 */
#pragma once

/* Sets that of the calling thread. 0 or -errno. */
int niceness_set(int nice);
/* Sets that of its session. Does nothing where sessions have none. */
void niceness_set_session(int nice);
/* Makes the calling thread an ordinary one again, if the thread that started it is preferred. */
void niceness_reset(void);
