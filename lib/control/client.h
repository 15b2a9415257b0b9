/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asking the daemon of a session to do something: one line there, some lines back.
 *
 *	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
 *	if (control_call("/var/lib/oprofile", "dump", &answer, &err) < 0) ...
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

enum { CONTROL_TIMEOUT_MS = 30000, CONTROL_ANSWER_MAX = 1 << 20 };

/* Sends @request and adds the lines of the answer to @answer. 0, or -errno: -ENOENT if no daemon
 * listens, -ETIMEDOUT if it does not answer, -EREMOTEIO with its own words if it refuses. */
int control_call(const char *session_dir, const char *request, struct strbuf *answer,
		 struct error *err);

/* The value of @key in an answer of lines "key value"; caller frees, NULL if it is not there. */
char *control_value(const char *answer, const char *key);
