/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answers of a server that another process makes (web_maker.h), kept for whoever asks the same
 * question again. A question that is being answered is not asked twice. The list owns its answers
 * and their files.
 *
 *	struct web_answers *answers = web_answers_new(socket, 256 << 20);
 *	struct web_made *made = web_answers_ask(answers, "data", 2000);
 *	if (!made->is_ready)
 *		web_answers_take(answers);		when the socket can be read
 *	web_answers_free(answers);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct web_made {
	char *question;
	uint32_t number; /* of the question; 0: the place is free */
	bool is_ready;
	int status; /* then: 0; -EIO: the file is a message for people; another -errno */
	int file;   /* or -1 */
	off_t size;
	uint64_t tag;	    /* depends on the content, and on nothing else */
	int64_t made_ms;    /* when it was ready */
	uint64_t used;	    /* grows with each use of any answer */
	unsigned int users; /* requests that wait for it */
};

struct web_answers;

/* A list whose answers come from a socket, which is borrowed. When all answers together have more
 * than @bytes_max, those that nobody waits for are dropped, the one not used for longest first.
 * Caller frees. */
struct web_answers *web_answers_new(int socket, off_t bytes_max);
/* Closes the files; NULL is fine. */
void web_answers_free(struct web_answers *a);
DEFINE_CLEANUP(struct web_answers *, web_answers_free);

/* The answer to a question, ready or not: one made at most @fresh_ms ago (-1: ever), or else it is
 * asked for, and older ones are dropped. Borrowed until the next call, longer while ->users is not
 * 0. NULL if too much is being asked, or people wait for too many bytes. */
struct web_made *web_answers_ask(struct web_answers *a, const char *question, int64_t fresh_ms);
/* Takes an answer from the socket; waits if there is none. Returns it, borrowed as above; or NULL
 * if nobody makes answers any more. */
struct web_made *web_answers_take(struct web_answers *a);
/* Forgets the answers that begin with @prefix, except those that somebody waits for. */
void web_answers_forget(struct web_answers *a, const char *prefix);
