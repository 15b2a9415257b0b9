/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the header of a report says about a session: when, where and how it was recorded, and, if
 * the report is about a window of time, what the history covers of it. Each form prints the same
 * facts.
 *
 *	session_facts_each(session, SESSION_FACTS_TIME, print_fact, out);
 */
#pragma once

#include <stdbool.h>

struct gather_session;

enum session_facts {
	SESSION_FACTS_RECORDING, /* "began", "ended", "host", "command", "cpu_model", ... */
	SESSION_FACTS_MACHINE,	 /* of these, what was sampled; for people only */
	SESSION_FACTS_TIME	 /* of the window: "begin", "end", "slices", ... */
};

struct session_fact {
	const char *name;
	const char *text; /* a number, or times as 2026-11-20T14:00:00+01:00 */
	bool is_number;
};

/* Calls @each with each fact that is known, which is borrowed for the call. Returns whether any
 * is. */
bool session_facts_each(const struct gather_session *s, enum session_facts which,
			void (*each)(const struct session_fact *fact, void *data), void *data);
/* The line of the header for people, without its end: "Session: current on vm1, ..."; the caller
 * frees. NULL or empty if the facts are not known. */
char *session_facts_line(const struct gather_session *s, enum session_facts which);
