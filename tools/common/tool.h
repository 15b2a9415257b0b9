/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every tool's main() does: options, --help, messages. Only tools print and exit.
 *
 *	int operands = tool_options(&cmdline, argc, argv);	exits for --help and bad options
 *	if (operands >= 0 && collector_start(collector, &err) < 0)
 *		return tool_fail(&err);
 */
#pragma once

#include "base/error.h"
#include "base/log.h"
#include "base/opt.h"

#include <stdbool.h>
#include <stdio.h>

enum { TOOL_FAILURE = 1, TOOL_USAGE = 2 };

/* Parses options. Prints help, version or option list and exits 0 where asked; on a bad option says
 * so and exits TOOL_USAGE. Returns the index of the first operand. Warnings of the libraries go to
 * stderr from here on. */
int tool_options(const struct opt_cmdline *cmdline, int argc, char **argv);
/* For what goes into the background: closes what was inherited beyond stdin, stdout and stderr,
 * which it opens where they are not; umask 022, directory /. */
void tool_tidy(void);
/* Prints "tool: text" on stderr; returns TOOL_FAILURE. */
int tool_fail(const struct error *err);
/* Writes what waits in @out, the file @path, NULL for standard output; 0, or -errno where any of
 * what was printed so far could not be written. */
int tool_flush(FILE *out, const char *path, struct error *err);
/* The end of main(): @status, or, where not all of standard output could be written, that and
 * TOOL_FAILURE. */
int tool_finish(int status);
/* Prints "tool: text" and how to get help; returns TOOL_USAGE. */
int tool_usage(const char *format, ...) _printf_(1, 2);
/* Prints "tool: warning: text" on stderr. */
void tool_warn(const char *format, ...) _printf_(1, 2);
/* Shows the libraries' lines up to @level on stderr. */
void tool_verbose(enum log_level level);
/* Columns of the terminal that @fd is, 0 if it is none. */
unsigned int tool_terminal_width(int fd);
/* Whether @fd is a terminal that takes escape sequences, so that a line can be written over. */
bool tool_can_redraw(int fd);
/* Whether @fd is a terminal on which colour is welcome (NO_COLOR and TERM=dumb are heeded). */
bool tool_colour(int fd);
