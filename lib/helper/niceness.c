/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/niceness.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The kernel accepts a change every 100 ms, of whatever session. */
enum { TRIES = 4, PAUSE_NS = 100000000 };

int niceness_set(int nice)
{
	return setpriority(PRIO_PROCESS, 0, nice) < 0 ? -errno : 0;
}

void niceness_set_session(int nice)
{
	_cleanup_close_ int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int i;

	for (i = 0; fd >= 0 && i < TRIES && dprintf(fd, "%d", nice) < 0 && errno == EAGAIN; i++)
		(void)nanosleep(&pause, NULL);
}

void niceness_reset(void)
{
	if (getpriority(PRIO_PROCESS, 0) < 0)
		(void)niceness_set(0);
}
