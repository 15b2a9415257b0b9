/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's log, SESSION/samples/oprofiled.log: lines with date and time, and sections of
 * statistics. There is one per process; it also gets the libraries' lines (base/log.h). When it is
 * long, it is renamed to oprofiled.log.1, which is replaced, and a new one begins. A thread may
 * write it, so that nobody waits for a disk.
 *
 *	logfile_open(session_dir, LOG_LEVEL_INFO, false, err);
 *	log_info("started");
 *	logfile_begin_thread(err);
 *	logfile_section(print_statistics, collector);
 *	logfile_end_thread();
 */
#pragma once

#include "base/error.h"
#include "base/log.h"

#include <stdio.h>

enum { LOGFILE_BYTES_MAX = 4 << 20 };

/* Opens it for appending, creating it with its directory, and sends lines up to @level there. With
 * @echo all of them go to stderr as well, otherwise only warnings, until logfile_detach(). 0 or
 * -errno. */
int logfile_open(const char *session_dir, enum log_level level, bool echo, struct error *err);
/* From now on, a thread writes what is logged. If the disk is so slow that very many lines wait,
 * the next ones are dropped, and the log says how many. 0 or -errno. */
int logfile_begin_thread(struct error *err);
/* Whether all is written, or has been asked for in vain for some milliseconds; for those who wait
 * for an answer. Waits at most @ms for it. */
bool logfile_settle(int ms);
/* Waits until all is written, and ends the thread. */
void logfile_end_thread(void);
/* Reopens it after it was moved away; on failure keeps the old one, which says why. */
void logfile_reopen(void);
/* Sends lines up to @level there from now on. */
void logfile_level(enum log_level level);
/* Redirects stderr to the log, so that last messages of libraries are kept: for a daemon that has
 * left its terminal. */
void logfile_detach(void);
/* Writes a line with the time, then calls @print to write below it. */
void logfile_section(void (*print)(void *data, FILE *out), void *data);
/* Writes @text as it is, to stderr too; for a signal handler. */
void logfile_raw(const char *text);
