/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event that a question to opweb is about: "event/KEY/data" instead of "data". A page shows one
 * event at a time, because samples of two events do not add up. A key is the name of an event or,
 * if that is not enough, "NAME,COUNT".
 *
 *	struct web_events events = { 0 };
 *	if (web_events_list(&config, words, &events, err) == 0)
 *		puts(events.keys[events.usual]);
 *	web_events_done(&events);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

#include <stddef.h>

struct profile_config;

struct web_events {
	char **keys; /* ends with NULL; or NULL */
	size_t count;
	size_t usual; /* the one that is shown if none is asked for: tools/common/usual_event.h */
};

/* The key of the event in a question, or NULL; caller frees. */
char *web_event_key(const char *question);
/* Finds the events that the words of a specification select, which end with NULL. 0, and the caller
 * calls web_events_done(); or -errno. */
int web_events_list(const struct profile_config *config, char *const *words, struct web_events *ret,
		    struct error *err);
void web_events_done(struct web_events *e);
/* The words, which end with NULL, and those for an event, instead of an event in them; all words
 * are copies. With NULL, these words. Caller frees by web_event_words_free(). */
char **web_event_words(char *const *words, const char *key);
void web_event_words_free(char **words);
DEFINE_CLEANUP(char **, web_event_words_free);
