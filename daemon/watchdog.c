/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watchdog.h"

#include "base/clock.h"
#include "notify.h"

static const uint64_t held_max_ns = 600 * NS_PER_S;

void watchdog_init(struct watchdog *w)
{
	*w = (struct watchdog){ .period_ns = notify_watchdog_us() * 1000,
				.awake_ns = clock_now_ns() };
}

void watchdog_feed(struct watchdog *w)
{
	w->fed_ns = clock_now_ns();
	notify_manager("WATCHDOG=1");
}

void watchdog_awake(struct watchdog *w)
{
	w->awake_ns = clock_now_ns();
}

void watchdog_drained(void *data)
{
	struct watchdog *w = data;
	uint64_t now_ns = clock_now_ns();

	if (w->period_ns && now_ns - w->fed_ns >= w->period_ns / 2 &&
	    now_ns - w->awake_ns < held_max_ns)
		watchdog_feed(w);
}
