/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output of opcontrol --status, for people and as JSON. It is made of lines "key value": the
 * daemon's answer or, if no daemon runs, the same keys from its configuration and the session.
 *
 *	status_view_silent(&rc, dir, false, &lines);	or the answer to "status"
 *	status_view_session(dir, &lines);
 *	status_view_text(strbuf_text(&lines), stdout);
 */
#pragma once

#include "base/strbuf.h"
#include "control/settings.h"

#include <stdio.h>

/* Adds what is known without an answer of the daemon: it does not run, or does not answer this user
 * (@refused). 0, or -errno if the session's counters cannot be read: -ENOENT if it has none. */
int status_view_silent(const struct settings *s, const char *session_dir, bool refused,
		       struct strbuf *lines);
/* Adds the sessions on disk and their size. 0, or -errno if they cannot be listed: -ENOENT if there
 * are none. */
int status_view_session(const char *session_dir, struct strbuf *lines);

/* Prints a table for people. */
void status_view_text(const char *lines, FILE *out);
/* Prints one JSON object, in which events and sessions are arrays and the counters an object. */
void status_view_json(const char *lines, FILE *out);
