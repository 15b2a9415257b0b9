/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of a profile for pages: each has a profile of its own, because samples of two events
 * do not add up. A key is the name of an event or, if that is not enough, "NAME,COUNT".
 *
 *	struct page_events events = { 0 };
 *	if (page_events_list(&config, words, &events, err) == 0)
 *		puts(events.keys[events.usual]);
 *	page_events_done(&events);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

#include <stddef.h>

struct profile_config;

struct page_events {
	char **keys; /* ends with NULL; or NULL */
	size_t count;
	size_t usual; /* the one that is shown if none is asked for: tools/common/usual_event.h */
};

/* Finds the events that the words of a specification select, which end with NULL. 0, and the caller
 * calls page_events_done(); or -errno. */
int page_events_list(const struct profile_config *config, char *const *words,
		     struct page_events *ret, struct error *err);
void page_events_done(struct page_events *e);
/* The words, which end with NULL, and those for an event, instead of an event in them; all words
 * are copies. With NULL, these words. Caller frees by page_event_words_free(). */
char **page_event_words(char *const *words, const char *key);
void page_event_words_free(char **words);
DEFINE_CLEANUP(char **, page_event_words_free);
