/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The libraries' log. Lines go nowhere until a tool or the daemon sets a sink. Each call is one
 * line, without a newline. The sink is the only mutable state of lib/; it is set once, at start.
 *
 *	log_to(LOG_WARNING, stderr_sink, NULL);
 *	log_warn("cpu %d went away", cpu);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>

enum log_level {
	LOG_LEVEL_ERROR,   /* something was lost or not done */
	LOG_LEVEL_WARNING, /* it works, but not as asked */
	LOG_LEVEL_INFO,	   /* what happens, for somebody who follows */
	LOG_LEVEL_DEBUG,   /* each step */
	LOG_LEVEL_COUNT_
};

/* Is called with each line up to the level asked for; @text is borrowed for the call. */
typedef void log_sink(enum log_level level, const char *text, void *data);

/* The prefix of lines of this level, "warning: ". */
const char *log_prefix(enum log_level level);
/* Sends lines up to @level to @sink; NULL discards all. */
void log_to(enum log_level level, log_sink *sink, void *data);
/* Whether a line of @level would go anywhere; for lines that are costly to build. */
bool log_wants(enum log_level level);
/* Writes one line. */
void log_line(enum log_level level, const char *format, ...) _printf_(2, 3);

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)  log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)
