/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors and timers of an epoll loop; the caller closes them.
 *
 *	int timer = loop_timer(err);
 *	loop_watch(epoll, timer, SOURCE_TICK, err);
 *	loop_set_period(timer, 250000000);
 *	loop_swallow(timer);			when it is readable
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* Adds @fd to the loop, unless it is -1; its events have @source as data. 0 or -errno. */
int loop_watch(int epoll, int fd, uint32_t source, struct error *err);
/* Removes @fd, unless it is -1. */
void loop_unwatch(int epoll, int fd);

/* Creates a timer that does not run. Returns a descriptor or -errno. */
int loop_timer(struct error *err);
/* Lets a timer fire every @period_ns; 0: never. */
void loop_set_period(int timer, uint64_t period_ns);
/* Makes a timer that fired unreadable until it fires again. */
void loop_swallow(int timer);
