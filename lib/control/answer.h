/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of requests and answers on the control socket: "key value" lines followed by ".", or a
 * single line "error: text". The caller owns the strbuf.
 *
 *	control_answer(&answer, "pid", "%d", getpid());
 *	strbuf_adds(&answer, CONTROL_END "\n");
 */
#pragma once

#include "base/macro.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_END   "."
#define CONTROL_ERROR "error: "

/* Appends a "key value" line to an answer; control characters in the value become '?'. */
void control_answer(struct strbuf *answer, const char *key, const char *format, ...) _printf_(3, 4);
/* Returns whether a line has no control characters. */
bool control_answer_is_text(const char *line, size_t length);
/* Replaces control characters, so that a path or a peer's text cannot end a line of the answer. */
void control_answer_clean(char *text);
