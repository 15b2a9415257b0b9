/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the libraries' notices go: nowhere, until a tool or the daemon sets a sink. One line a
 * call, without a newline. The sink is the only mutable state of lib/, set once at start.
 *
 *	log_to(LOG_WARNING, stderr_sink, NULL);
 *	log_warn("cpu %d went away", cpu);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>

enum log_level {
	LOG_LEVEL_ERROR,   /* something was lost or left undone */
	LOG_LEVEL_WARNING, /* works, but not as asked */
	LOG_LEVEL_INFO,	   /* what a person following along wants to know */
	LOG_LEVEL_DEBUG,   /* one line a step */
	LOG_LEVEL_COUNT_
};

/* Receives each line of at most the level asked for; @text is borrowed for the call. */
typedef void log_sink(enum log_level level, const char *text, void *data);

/* What a sink writes before a line: "warning: ". */
const char *log_prefix(enum log_level level);
/* Sends lines up to @level to @sink; NULL silences. */
void log_to(enum log_level level, log_sink *sink, void *data);
/* Whether a line of @level would go anywhere; for lines that are costly to build. */
bool log_wants(enum log_level level);
/* Writes one line. */
void log_line(enum log_level level, const char *format, ...) _printf_(2, 3);

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)  log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)
