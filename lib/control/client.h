/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client side of the control socket: sends one request line to the daemon of a session and
 * reads the lines of its answer, into a buffer that the caller owns.
 *
 *	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
 *	if (control_call("/var/lib/oprofile", "dump", &answer, &err) < 0) ...
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

enum { CONTROL_TIMEOUT_MS = 30000, CONTROL_ANSWER_MAX = 1 << 20 };

/* Sends @request and appends the lines of the answer to @answer. Returns 0 or -errno: -ENOENT if no
 * daemon is listening, -ETIMEDOUT if it does not answer, -EREMOTEIO with the daemon's message in
 * @err if it refuses. */
int control_call(const char *session_dir, const char *request, struct strbuf *answer,
		 struct error *err);

/* The value of @key in an answer of "key value" lines; caller frees. NULL if there is no such
 * line. */
char *control_value(const char *answer, const char *key);
