/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of the event buffer that wait until the images in them are identified (identity/finder.h).
 * They are taken in their order, so one that waits holds up the later ones.
 *
 *	backlog_put(&b, words, count, cookie_asked(cookies));
 *	...
 *	while (backlog_take(&b, cookies, &part)) {
 *		...
 *		free(part.words);
 *	}
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cookie_table;

struct backlog_part {
	uint64_t *words;
	size_t count;
	uint64_t asked; /* the question to be answered first */
	uint64_t since_ns;
};

struct backlog {
	struct backlog_part *parts;
	size_t first, end, room;
	size_t words;	     /* in all parts */
	uint64_t put, taken; /* parts so far */
};

/* Adds a copy of @words. */
void backlog_put(struct backlog *b, const uint64_t *words, size_t count, uint64_t asked);
/* Takes the next part whose images are identified, or that has waited for too long, or for which
 * there is no room; the caller frees its words. False if there is none. */
bool backlog_take(struct backlog *b, struct cookie_table *cookies, struct backlog_part *ret);
/* Whether nothing waits. */
bool backlog_is_empty(const struct backlog *b);
/* Whether not too much waits for more to wait. */
bool backlog_has_room(const struct backlog *b);
/* The question that must be answered before the first @count parts may be taken; 0: none. */
uint64_t backlog_asked(const struct backlog *b, size_t count);
/* From now on, the first @count parts may be taken. */
void backlog_let_go(struct backlog *b, size_t count);
/* Waits at most @ms until what waits may be taken; then all of it may be. */
void backlog_release(struct backlog *b, struct cookie_table *cookies, int ms);
/* Frees what waits. */
void backlog_done(struct backlog *b);
