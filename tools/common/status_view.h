/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What opcontrol --status shows, for people and as JSON. It is lines of "key value": those of the
 * daemon's answer, or where none runs the same keys out of its configuration and the session.
 *
 *	status_view_silent(&rc, dir, false, &lines);	or the answer to "status"
 *	status_view_session(dir, &lines);
 *	status_view_text(strbuf_text(&lines), stdout);
 */
#pragma once

#include "base/strbuf.h"
#include "control/settings.h"

#include <stdio.h>

/* Adds what is known without a daemon's answer: because none runs, or because it does not answer
 * this user (@refused). */
void status_view_silent(const struct settings *s, const char *session_dir, bool refused,
			struct strbuf *lines);
/* Adds what is on disk: the sessions and their size. */
void status_view_session(const char *session_dir, struct strbuf *lines);

/* Prints a table for people. */
void status_view_text(const char *lines, FILE *out);
/* Prints one JSON object: numbers as numbers; events, sessions and counters as arrays and object.
 */
void status_view_json(const char *lines, FILE *out);
