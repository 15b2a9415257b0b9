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

/* The niceness of a thread that is in a hurry. */
enum { NICENESS_SOON = -10 };

/* Gives the calling thread NICENESS_SOON, and short slices of time: the less a thread asks for at a
 * time, the sooner it gets that, from Linux 6.12 on. So do threads and processes that it starts. 0,
 * or -errno: it may not. */
int niceness_soon(void);
/* Sets that of the calling thread. 0 or -errno. */
int niceness_set(int nice);
/* Sets that of its session. Does nothing where sessions have none. */
void niceness_set_session(int nice);
/* Makes the calling thread an ordinary one again, if the thread that started it is preferred. A
 * signal handler may call it. */
void niceness_reset(void);
