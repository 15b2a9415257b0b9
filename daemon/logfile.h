/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's log, SESSION/samples/oprofiled.log: a line with date and time each, and sections of
 * statistics. There is one in the process; it takes the libraries' lines (base/log.h) as well.
 *
 *	logfile_open(session_dir, LOG_LEVEL_INFO, false, err);
 *	log_info("started");
 *	logfile_section(print_statistics, collector);
 */
#pragma once

#include "base/error.h"
#include "base/log.h"

#include <stdio.h>

/* Opens it for appending, creating it with its directory, and sends lines up to @level there. With
 * @echo they all go to stderr as well, else until logfile_detach() the warnings. 0 or -errno. */
int logfile_open(const char *session_dir, enum log_level level, bool echo, struct error *err);
/* Opens it anew, for whoever moved it away; the old one stays in use if that fails. */
int logfile_reopen(struct error *err);
/* Sends lines up to @level there from now on. */
void logfile_level(enum log_level level);
/* Makes stderr the log itself, so that what a library writes there in despair is kept: for a daemon
 * whose set-up is over and that nobody watches. */
void logfile_detach(void);
/* Lets @print write below a line with the time. */
void logfile_section(void (*print)(void *data, FILE *out), void *data);
/* Writes @text as it is, to stderr too; for a signal handler. */
void logfile_raw(const char *text);
