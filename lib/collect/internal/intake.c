/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/intake.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "helper/relief.h"
#include "identity/cookie.h"
#include "record/record.h"
#include "collect/stream_outlet.h"
#include "stream/stream_file.h"

/* How long images are waited for. Answers nearly always come soon, and what depends on the
 * processes of the samples is to be done while they exist. */
static const int wait_ms[] = { [INTAKE_SOME] = 5, [INTAKE_ALL] = 10, [INTAKE_LAST] = 500 };
/* How long is recorded in a turn, if it need not be all. */
static const uint64_t turn_max_ns = 15000000;

static int pass_on(struct intake *i, const uint64_t *words, size_t count)
{
	struct error err = ERROR_INIT;

	if (i->tee && stream_file_words(words, count, i->tee) < 0) {
		(void)stream_file_close(i->tee, NULL, &err);
		log_error("%s: the event buffer is no longer recorded", err.text);
		i->tee = NULL;
	}
	if (i->outlet)
		(void)stream_outlet_words(words, count, i->outlet);
	return record_words(words, count, i->record);
}

void intake_begin(struct intake *i, bool in_turns)
{
	i->until_ns = in_turns ? clock_now_ns() + turn_max_ns : 0;
}

/* Whether the turn has taken its time. */
static bool is_over(const struct intake *i)
{
	return i->until_ns && clock_now_ns() >= i->until_ns;
}

int intake_words(const uint64_t *words, size_t count, void *data)
{
	struct intake *i = data;
	uint64_t asked = cookie_asked(i->cookies);

	if (_likely_(!i->defers && !i->holds && !i->is_between && backlog_is_empty(&i->backlog) &&
		     !is_over(i) && cookie_await(i->cookies, asked, 0)))
		return pass_on(i, words, count);
	backlog_put(&i->backlog, words, count, asked);
	return 0;
}

/* Passes on the next part, if it is identified. Returns whether it was; stores a failure. */
static bool take_one(struct intake *i)
{
	struct backlog_part part;
	int r;

	if (!backlog_take(&i->backlog, i->cookies, &part))
		return false;
	r = pass_on(i, part.words, part.count);
	i->failure = i->failure ?: r;
	free(part.words);
	return true;
}

/* Passes on what is identified until the turn is over, with @all all of it. Without room, nobody
 * would wait for the identities of what comes. */
static void take(struct intake *i, bool all)
{
	while ((all || !backlog_has_room(&i->backlog) || !is_over(i)) && take_one(i))
		;
}

bool intake_tend(struct intake *i)
{
	if (i->holds || backlog_is_empty(&i->backlog))
		return false;
	take(i, false);
	return !backlog_is_empty(&i->backlog) && is_over(i);
}

void intake_mark(struct intake *i)
{
	i->mark = i->backlog.put;
}

/* The number of parts that wait, up to the mark. */
static size_t marked(const struct intake *i)
{
	return i->mark - MIN(i->backlog.taken, i->mark);
}

bool intake_is_identified(const struct intake *i)
{
	return cookie_await(i->cookies, backlog_asked(&i->backlog, marked(i)), 0);
}

void intake_let_go(struct intake *i)
{
	backlog_let_go(&i->backlog, marked(i));
}

bool intake_catch_up(struct intake *i)
{
	intake_begin(i, true);
	while (i->backlog.taken < i->mark && !is_over(i) && take_one(i))
		;
	return i->backlog.taken < i->mark;
}

/* Returns the failure since it was asked for last. */
static int failed(struct intake *i)
{
	int r = i->failure;

	i->failure = 0;
	return r;
}

/* Waits a little for the images of what waits; they are taken over afterwards. */
static void await_some(struct intake *i)
{
	uint64_t asked = cookie_asked(i->cookies);

	relief_leave(i->relief);
	cookie_wait(i->cookies, asked, wait_ms[INTAKE_SOME]);
	relief_return(i->relief);
	(void)cookie_await(i->cookies, asked, 0);
}

int intake_settle(struct intake *i, enum intake_wait wait)
{
	/* What failed is reported to those who record. */
	if (i->is_between)
		return 0;
	if (backlog_is_empty(&i->backlog) || (i->holds && backlog_has_room(&i->backlog)))
		return failed(i);
	if (wait == INTAKE_SOME)
		await_some(i);
	else
		backlog_release(&i->backlog, i->cookies, wait_ms[wait]);
	take(i, wait != INTAKE_SOME);
	return failed(i);
}

void intake_done(struct intake *i, const struct driver_stats *stats)
{
	struct error err = ERROR_INIT;

	if (i->tee && stream_file_close(i->tee, stats, &err) < 0)
		log_error("%s", err.text);
	backlog_done(&i->backlog);
}
