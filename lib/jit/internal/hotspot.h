/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks HotSpot, the virtual machine of OpenJDK, for the names of its compiled code, as jcmd(1)
 * does: "jcmd PID Compiler.perfmap" writes /tmp/perf-PID.map (jit/jit_files.h). It is asked over a
 * socket in its /tmp, which it makes after SIGQUIT if the file /tmp/.attach_pidPID exists
 * (attachListener_posix.cpp in OpenJDK). The command exists since JDK 17.
 *
 * The signal ends a process that does not catch it, and makes a virtual machine that must not be
 * asked print all its stacks. So hotspot_look() comes first.
 *
 *	if (hotspot_look("", tgid, &t.who) == 0)
 *		r = hotspot_ask(&t, clock_now_ms() + 5000);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whom the virtual machine obeys, besides root. */
struct hotspot {
	uint32_t tgid;
	uid_t uid;
	gid_t gid;
};

/* Checks that process @tgid of the /proc below @root runs HotSpot and can be asked. 0; -ENOEXEC if
 * it is not HotSpot, -EAGAIN if it has just been started and cannot be asked yet, -EOPNOTSUPP if it
 * was started with an option that forbids it, or -errno. */
int hotspot_look(const char *root, uint32_t tgid, struct hotspot *ret);

/* Finds out whose process @tgid is, without touching its memory. 0 or -errno. */
int hotspot_owner(const char *root, uint32_t tgid, uid_t *ret);

/* Reads user and group from the text of /proc/PID/status. 0; -EOPNOTSUPP if the process does not
 * catch the signal, or -EBADMSG. */
int hotspot_status(const char *status, struct hotspot *ret);

/* A process to ask. The caller closes the descriptors. */
struct hotspot_target {
	struct hotspot who;
	uint32_t inner; /* its PID in its own namespace */
	int root;	/* its root directory, with O_PATH */
	int pidfd;
};

/* Asks for the map and waits until it is written, but at most until @end_ms, as of clock_now_ms().
 * The caller has the user and group of the process. 0; -ENOSYS if it does not know the command,
 * -EBADMSG if it refuses, -EEXIST if the file that it would write is a link or another user's,
 * -ETIME, or -errno. */
int hotspot_ask(const struct hotspot_target *t, int64_t end_ms);

/* The meaning of an answer: as hotspot_ask(). */
int hotspot_answer(const char *text, size_t size);
