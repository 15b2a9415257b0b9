/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "urgent.h"

#include "helper/niceness.h"

#include <sched.h>
#include <sys/resource.h>

enum { PRIORITY = 1, NICE = -10, RUNAWAY_US = 1000 * 1000 };

const char *urgent_prefer(bool has_session)
{
	if (niceness_set(NICE) < 0)
		return "normal priority";
	if (has_session)
		niceness_set_session(NICE);
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
