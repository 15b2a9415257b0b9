/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the service manager's watchdog hears: that the daemon lives, while its loop goes on, and
 * while the loop is held by a disk or a request but samples are drained. A plain value: nothing to
 * free.
 *
 *	watchdog_init(&w);
 *	loop_set_period(timer, w.period_ns / 2);
 *	watchdog_feed(&w);		each time
 *	watchdog_awake(&w);		in each turn of the loop
 *	watchdog_drained(&w);		otherwise, in any thread, but in one at a time
 */
#pragma once

#include <stdint.h>

struct watchdog {
	uint64_t period_ns; /* how often the manager wants to hear from us; 0: not at all */
	uint64_t fed_ns;    /* when it did */
	uint64_t awake_ns;  /* when the loop last went on */
};

/* Reads what the manager wants. */
void watchdog_init(struct watchdog *w);
/* Feeds it. */
void watchdog_feed(struct watchdog *w);
/* Notes that the loop goes on. */
void watchdog_awake(struct watchdog *w);
/* Feeds the watchdog @data if it is time, because samples were drained, unless the loop has been
 * held for ten minutes. */
void watchdog_drained(void *data);
