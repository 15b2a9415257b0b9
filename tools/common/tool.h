/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The common part of every tool's main(): options, --help, messages and exit statuses. Only tools
 * print and exit; libraries return errors.
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

/* Parses options and returns the index of the first operand. Prints help, version or the list of
 * options and exits 0 if asked to; reports a bad option and exits with TOOL_USAGE. From here on
 * warnings of the libraries go to stderr, and so does the name of a mapped file that somebody cuts
 * short, which ends the tool with TOOL_FAILURE. */
int tool_options(const struct opt_cmdline *cmdline, int argc, char **argv);
/* Prepares a process for the background: closes inherited descriptors other than stdin, stdout and
 * stderr, opens those three if they are closed, sets umask 022 and directory /. */
void tool_tidy(void);
/* Prints "tool: text" on stderr; returns TOOL_FAILURE. */
int tool_fail(const struct error *err);
/* Flushes @out, the file @path (NULL: standard output). 0, or -errno if any output so far could not
 * be written. */
int tool_flush(FILE *out, const char *path, struct error *err);
/* Ends main(): returns @status or, if standard output could not be written, reports that and
 * returns TOOL_FAILURE. */
int tool_finish(int status);
/* Prints "tool: text" and how to get help; returns TOOL_USAGE. */
int tool_usage(const char *format, ...) _printf_(1, 2);
/* Prints "tool: warning: text" on stderr. */
void tool_warn(const char *format, ...) _printf_(1, 2);
/* From now on messages have @name instead of the path @directory, which the user does not know. */
void tool_alias(const char *directory, const char *name);
/* The text of a message with these names, for those that go elsewhere; caller frees. */
char *tool_text(const char *text);
/* Shows the libraries' log lines up to @level on stderr. */
void tool_verbose(enum log_level level);
/* The option -V of tools that print what they do, with the same meaning everywhere. OProfile 1.x's
 * tools for reports have an argument, which is ignored. */
#define TOOL_VERBOSE_OPTION                                                                        \
	{                                                                                          \
		'V', "verbose", OPT_CALL, NULL, "[WHAT]", "print what is done, on standard error", \
			tool_set_verbose                                                           \
	}
int tool_set_verbose(const char *arg, void *target, struct error *err);
/* Returns the width of the terminal @fd in columns, 0 if it is not a terminal. */
unsigned int tool_terminal_width(int fd);
/* Whether @fd is a terminal that takes escape sequences, so that a line can be overwritten. */
bool tool_can_redraw(int fd);
