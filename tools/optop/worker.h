/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that answers what optop shows: it has the samples until now recorded, reads what is
 * new in the profile (tools/optop/collect.h), and writes the answer into a pipe, without being
 * waited for. It keeps what it has read for the next question.
 *
 *	struct worker *w;
 *	if (worker_open(feed, &question, &w, err) == 0 &&
 *	    worker_ask(w, &question, COLLECT_RECORD, err) == 0)
 *		while (!worker_go_on(w))
 *			poll(&(struct pollfd){ worker_fd(w), POLLIN }, 1, -1);
 *	worker_take(w, &answer);
 *	worker_close(w);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "tools/optop/collect.h"
#include "tools/optop/optop_answer.h"

#include <stdbool.h>

struct feed;
struct worker;

/* Starts the process, for questions about the session and with the words of @q; both and @feed are
 * borrowed. 0, the caller frees; or -errno. */
int worker_open(const struct feed *feed, const struct question *q, struct worker **ret,
		struct error *err);
/* Ends the process; NULL is fine. */
void worker_close(struct worker *w);
DEFINE_CLEANUP(struct worker *, worker_close);

/* Asks; an answer that is still due is discarded. 0, or -errno if the process has ended. */
int worker_ask(struct worker *w, const struct question *q, enum collect_kind kind,
	       struct error *err);
/* Becomes readable when there is more of the answer. */
int worker_fd(const struct worker *w);
/* Reads what there is. Returns whether the answer is complete, or will not be: then
 * worker_has_ended(). */
bool worker_go_on(struct worker *w);
/* Whether the process has ended. What it said last can be taken like an answer. */
bool worker_has_ended(const struct worker *w);
/* Adds the answer to @ret. */
void worker_take(struct worker *w, struct answer *ret);
/* The CPU time in seconds that recording the samples took in this process, besides what the answers
 * say. */
double worker_seconds(const struct worker *w);
