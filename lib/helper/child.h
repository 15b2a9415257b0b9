/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a process that goes on with this program's code but inherits nothing else: no descriptor,
 * no handler of a signal, no session. It ignores the signals that end its parent or are for it, and
 * ends when the two are no longer connected, or the thread that started it ends.
 *
 *	int end;
 *	pid_t pid = child_start("oprofile-keeper", &end);	returns twice, as fork(2)
 *	...
 *	child_wait(pid);
 */
#pragma once

#include <sys/types.h>

/* Starts the process @name. Returns its PID, 0 in that process, or -errno; and in *@ret_socket one
 * end of a pair of sockets (SOCK_SEQPACKET), in each of the two. The caller closes it. */
pid_t child_start(const char *name, int *ret_socket);
/* The same, but it stays in its parent's session, and so in the group of processes that share their
 * CPU time (CONFIG_SCHED_AUTOGROUP). */
pid_t child_start_inside(const char *name, int *ret_socket);
/* Waits for the end of a process that was killed, or whose socket was closed. */
void child_wait(pid_t pid);
