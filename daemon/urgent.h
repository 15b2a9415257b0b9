/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A higher priority for a thread that must answer soon on a busy machine.
 *
 *	log_info("requests are answered at %s", urgent_enter());	in the thread
 */
#pragma once

/* Gives the calling thread real-time priority 1, or else niceness -10, or else leaves it as it is.
 * From then on a real-time thread that runs for a second without waiting ends this process. Returns
 * what the thread has, for the log. */
const char *urgent_enter(void);
