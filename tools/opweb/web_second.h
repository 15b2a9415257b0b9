/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile that a page compares with its own: "second/data" are the data of the one that was
 * given on the command line, "session/NAME/data" those of another session, of the same words
 * otherwise. After the event, if there is one (web_event.h).
 *
 *	_cleanup_free_ char *name = web_second_session("session/before/data");
 *	char **words = web_second_words(job_words, name, err);
 *	page_event_words_free(words);
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct gather;

/* The name of the session in a question without an event, or NULL; caller frees. */
char *web_second_session(const char *question);
/* Copies of the words, which end with NULL, for the session instead of the sessions and times in
 * them. Caller frees by page_event_words_free(). NULL, with the reason, if this is no name of a
 * session. */
char **web_second_words(char *const *words, const char *session, struct error *err);
/* The names of the sessions next to those of the profile, the first ones in the order of names;
 * ends with NULL. *@ret_more: how many more there are. Caller frees by page_event_words_free(). */
char **web_second_sessions(const struct gather *g, size_t *ret_more);
