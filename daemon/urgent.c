/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "urgent.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PRIORITY = 1, NICE = -10, RUNAWAY_US = 1000 * 1000 };

const char *urgent_enter(void)
{
	const struct sched_param parameters = { .sched_priority = PRIORITY };
	const struct rlimit runaway = { RUNAWAY_US, RUNAWAY_US };

	(void)setrlimit(RLIMIT_RTTIME, &runaway);
	/* In Linux both are properties of the thread. */
	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &parameters) == 0)
		return "real-time priority";
	if (setpriority(PRIO_PROCESS, (id_t)gettid(), NICE) == 0)
		return "niceness -10";
	return "normal priority";
}
