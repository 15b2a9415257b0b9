/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reason for a failure: set where it is known, printed once, by the tool's main(). A struct
 * error is the caller's storage and owns nothing; a NULL error is allowed everywhere.
 *
 *	return error_set(err, -EBADMSG, "%s: bad magic %#x at offset %zu", path, magic, off);
 *
 *	struct error err = ERROR_INIT;
 *	if (path_read("", "/proc/version", &text, &err) < 0)
 *		return tool_fail(&err);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>

struct error {
	int code;	 /* -errno of the failure, 0 while there is none */
	char text[1024]; /* one line without a newline; cut short with "..." if longer */
};

#define ERROR_INIT ((struct error){ 0 })

/* Sets text and code, returns @code, which is negative. */
int error_set(struct error *err, int code, const char *format, ...) _printf_(3, 4);

/* As error_set() with ": strerror(-code)" appended. */
int error_errno(struct error *err, int code, const char *format, ...) _printf_(3, 4);

/* Puts "what: " before the present text; returns the error's code. */
int error_prefix(struct error *err, const char *format, ...) _printf_(2, 3);

/* Whether @code concerns the machine (disk full, no memory, no descriptors) rather than one file:
 * other files will fail in the same way. */
bool error_is_of_machine(int code);
