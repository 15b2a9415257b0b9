/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "urgent.h"

#include "helper/niceness.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PRIORITY = 1, NICE = -10, RUNAWAY_US = 1000 * 1000 };
/* The shortest slice that the scheduler grants. */
static const uint64_t slice_ns = 100000;

/* Asks for short slices: the less a thread asks for at a time, the sooner it gets that, from Linux
 * 6.12 on. Earlier kernels ignore it. */
static void shorten_slices(void)
{
	/* As in linux/sched/types.h, which not all C libraries can include. */
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr), .policy = SCHED_OTHER, .nice = NICE, .runtime = slice_ns };

	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

const char *urgent_prefer(bool has_session)
{
	if (niceness_set(NICE) < 0)
		return "normal priority";
	shorten_slices();
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
