/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "urgent.h"

#include "base/mem.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PRIORITY = 1, NICE = -10, RUNAWAY_US = 1000 * 1000 };

/* With CONFIG_SCHED_AUTOGROUP, niceness only counts in a session (setsid(2)), and a session as a
 * whole has one, too (sched(7)). */
static void prefer_session(void)
{
	_cleanup_close_ int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!dprintf(fd, "%d", NICE);
}

const char *urgent_prefer(bool has_session)
{
	/* In Linux, this is a property of the thread. */
	if (setpriority(PRIO_PROCESS, (id_t)gettid(), NICE) < 0)
		return "normal priority";
	if (has_session)
		prefer_session();
	return "niceness -10";
}

const char *urgent_enter(void)
{
	const struct sched_param parameters = { .sched_priority = PRIORITY };
	const struct rlimit runaway = { RUNAWAY_US, RUNAWAY_US };

	(void)setrlimit(RLIMIT_RTTIME, &runaway);
	/* That, too. */
	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &parameters) == 0)
		return "real-time priority";
	return urgent_prefer(false);
}
