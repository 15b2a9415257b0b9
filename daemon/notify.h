/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports to a service manager (man sd_notify): datagrams to $NOTIFY_SOCKET. Does nothing if that
 * is not set.
 *
 *	notify_manager("READY=1\nSTATUS=%s", why);
 */
#pragma once

#include "base/macro.h"

#include <stdint.h>

/* Sends a state; ignores failures. */
void notify_manager(const char *format, ...) _printf_(1, 2);

/* How often the manager wants WATCHDOG=1, in microseconds; 0: not at all. */
uint64_t notify_watchdog_us(void);
