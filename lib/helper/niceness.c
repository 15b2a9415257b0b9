/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/niceness.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The kernel accepts a change every 100 ms, of whatever session. */
enum { TRIES = 4, PAUSE_NS = 100000000 };

/* The shortest slice that the scheduler grants. */
static const uint64_t slice_ns = 100000;

/* Asks for slices of that length. Kernels before 6.12 ignore it. */
static void shorten_slices(void)
{
	/* As in linux/sched/types.h, which not all C libraries can include. */
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr),
		   .policy = SCHED_OTHER,
		   .nice = NICENESS_SOON,
		   .runtime = slice_ns };

	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

int niceness_soon(void)
{
	int r = niceness_set(NICENESS_SOON);

	if (r == 0)
		shorten_slices();
	return r;
}

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
