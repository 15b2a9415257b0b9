/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that waits for an opener (identity/opener.h), so that nobody else has to: it is asked
 * about images, and its answers are taken later, in the order of the questions. Another one keeps
 * the functions of the files that it finds. The first has no capabilities, the
 * second only those to use files.
 *
 *	struct finder_job job = { .what = FINDER_IDENTIFY };	with ->image and ->where
 *	ticket = finder_ask(f, &job);
 *	...
 *	while (finder_take(f, &job)) {
 *		...				@job.image has the answer
 *		finder_job_done(&job);
 *	}
 *	if (finder_answered(f) >= ticket)
 *		...				or the answer will not come
 */
#pragma once

#include "identity/cookie_image.h"
#include "base/error.h"

struct finder;
struct function_store;
struct opener;
struct parser_places;
struct text_copy;

enum finder_what {
	FINDER_IDENTIFY, /* opener_identify() */
	FINDER_CHANGED,	 /* opener_changed() */
	FINDER_COPY,	 /* opener_text_copy() */
	FINDER_COUNT_
};

struct finder_job {
	enum finder_what what;
	struct cookie_image image;
	struct cookie_mapped where;   /* ->root is "" */
	bool is_so;		      /* the answer: was changed, is a copy */
	bool is_gone;		      /* what would be a copy */
	struct text_copy *copy;	      /* the answer of FINDER_COPY */
	struct parser_places *places; /* of finder_keep_lines() */
};

/* Starts a thread that waits for @opener, which is borrowed. 0, caller frees; or -errno. */
int finder_new(struct opener *opener, struct finder **ret, struct error *err);
/* Stops the opener and the thread, which does not take long; NULL is fine. */
void finder_free(struct finder *f);

/* Has finder_keep_functions() use @store, which is borrowed; before the first call. */
void finder_set_store(struct finder *f, struct function_store *store);
/* Has the functions of an image kept (symbol/function_store.h), without an answer; ->what is
 * ignored. An image that is settled is put off: finder_take() has it read half a minute later or
 * more, and spares the CPUs. */
void finder_keep_functions(struct finder *f, const struct finder_job *job);
/* Has the functions of an image read that was executed, for finder_keep_functions(), if that is
 * called soon (functions_ahead.h). */
void finder_read_ahead(struct finder *f, const struct finder_job *job);
/* Whether functions or lines are being read, or are to be, but for those that were put off. */
bool finder_reads(const struct finder *f);
/* Has the lines of an image at its hottest places kept, job->places, without an answer. What has to
 * wait is not kept: it is to be asked for again. */
void finder_keep_lines(struct finder *f, const struct finder_job *job);
/* Has those that were put off read now, for at most @ms each for them and for those that were not
 * looked at yet. The store counts those that are not reached. */
void finder_finish_functions(struct finder *f, int ms);
/* Whom it waits for; borrowed. */
struct opener *finder_opener(const struct finder *f);
/* Asks; the image's strings are copied. Returns the number of the question, counted from 1; 0
 * if it is not asked, because too many wait. */
uint64_t finder_ask(struct finder *f, const struct finder_job *job);
/* The number of the last question with an answer; all before have theirs, too. */
uint64_t finder_answered(struct finder *f);
/* Waits until the question @number is answered, but at most @ms; whether it is. */
bool finder_wait(struct finder *f, uint64_t number, int ms);
/* Takes the next answer, whose strings the caller frees by finder_job_done(); false if there is
 * none. */
bool finder_take(struct finder *f, struct finder_job *ret);
void finder_job_done(struct finder_job *job);
