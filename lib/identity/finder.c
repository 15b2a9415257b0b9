/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/finder.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "helper/errands.h"
#include "identity/internal/functions_ahead.h"
#include "identity/internal/keep_functions.h"
#include "identity/internal/line_keeper.h"
#include "identity/internal/text_copy.h"
#include "identity/opener.h"
#include "parser/parser_places.h"
#include "symbol/function_store.h"

#include <errno.h>
#include <string.h>

/* A profiler that has just started meets the largest files of the machine all at once. Those that
 * will still be there are read later, one after the other, with pauses. */
enum {
	PUT_OFF_S = 30,
	PUT_OFF_MAX = 1024, /* files */
	PAUSE = 50,	    /* times as long as the file before took */
	PAUSE_MAX_S = 5,
	AHEAD_MAX = 32, /* questions that wait before a file that was executed is read */
	LINES_MAX = 8,	/* files whose lines wait to be read */
	/* After a new program: reading lines takes long, and other programs may end meanwhile. */
	CALM_MS = 250,
};

struct question;

struct finder {
	struct opener *opener;
	struct errands *errands;
	struct errands *reading;	 /* functions */
	struct function_store *store;	 /* of the thread of ->reading; NULL: they are not kept */
	struct functions_ahead ahead;	 /* of the same thread */
	struct line_keeper *line_keeper; /* of the same thread */
	struct question *waiting[LINES_MAX]; /* about lines, while it reads functions */
	size_t waiting_count;
	struct map put_off; /* by cookie, what is in the list, too */
	struct question *first, **end;
	uint64_t last_added;  /* number of the last errand of ->reading */
	uint64_t last_asked;  /* number of the last question of ->reading */
	uint64_t asked_ns;    /* when that or a file that was executed was asked about */
	struct question *due; /* the one that is being read, or NULL */
	uint64_t next_ns;     /* no other is read before */
	bool is_finishing;    /* nothing more is executed; atomic */
};

struct question {
	struct errand errand;
	struct finder *finder;
	struct finder_job job;
	bool is_due;		 /* is not put off again */
	bool is_put_off;	 /* the answer: is read later */
	uint64_t took_ns, at_ns; /* to read it; when it is due */
	struct question *next;	 /* in the list */
};

void finder_job_done(struct finder_job *job)
{
	free(job->image.path);
	free(job->image.host);
	if (job->copy)
		free(job->copy->path);
	free(job->copy);
	free(job->places);
	job->copy = NULL;
	job->places = NULL;
}

static void drop(struct errand *e)
{
	finder_job_done(&((struct question *)e)->job);
	free(e);
}

/* Makes a question of a copy of @job. */
static struct question *make(struct finder *f, const struct finder_job *job,
			     void (*run)(struct errand *e))
{
	struct question *q = xcalloc(1, sizeof(*q));

	q->errand = (struct errand){ .run = run, .drop = drop };
	q->finder = f;
	q->job = *job;
	q->job.image.path = xstrdup(job->image.path);
	q->job.image.host = job->image.host ? xstrdup(job->image.host) : NULL;
	q->job.where.root = "";
	q->job.places = job->places ? xmemdup(job->places, sizeof(*job->places)) : NULL;
	return q;
}

/* Has the thread that reads run @q, which it takes; returns the number. */
static uint64_t read_soon(struct finder *f, struct question *q)
{
	uint64_t number = errands_add(f->reading, &q->errand);

	f->last_added = MAX(f->last_added, number);
	return number;
}

static struct keep_now keep_by(struct finder *f)
{
	return (struct keep_now){ f->store, f->opener, &f->ahead };
}

static void keep_functions(struct errand *e)
{
	struct question *q = (struct question *)e;
	const struct keep_now by = keep_by(q->finder);
	const struct finder_job *job = &q->job;
	const uint64_t begin_ns = clock_now_ns();

	q->is_put_off = keep_functions_now(&by, &job->image, &job->where, !q->is_due);
	q->took_ns = clock_now_ns() - begin_ns;
}

static void read_ahead(struct errand *e)
{
	struct question *q = (struct question *)e;
	const struct keep_now by = keep_by(q->finder);

	if (!__atomic_load_n(&q->finder->is_finishing, __ATOMIC_RELAXED))
		keep_functions_ahead(&by, &q->job.image, &q->job.where);
}

static void keep_lines(struct errand *e)
{
	struct question *q = (struct question *)e;
	const struct line_question question = { &q->job.image, &q->job.where, q->job.places };

	line_keeper_keep(q->finder->line_keeper, q->finder->store, q->finder->opener, &question);
}

/* Has lines read when there is nothing else to do: functions are needed for more. */
static void turn_to_lines(struct finder *f, uint64_t now_ns)
{
	if (!f->waiting_count || errands_finished(f->reading) < f->last_added ||
	    now_ns - f->asked_ns < CALM_MS * (NS_PER_S / 1000))
		return;
	(void)read_soon(f, f->waiting[0]);
	memmove(f->waiting, f->waiting + 1, --f->waiting_count * sizeof(*f->waiting));
}

/* Puts a question off. */
static void put_off(struct finder *f, struct question *q)
{
	q->at_ns = clock_now_ns() + PUT_OFF_S * NS_PER_S;
	q->next = NULL;
	*f->end = q;
	f->end = &q->next;
	(void)map_set(&f->put_off, q->job.image.cookie, q);
}

static struct question *take_first(struct finder *f)
{
	struct question *q = f->first;

	if (!q)
		return NULL;
	f->first = q->next;
	if (!f->first)
		f->end = &f->first;
	(void)map_remove(&f->put_off, q->job.image.cookie);
	return q;
}

/* Has the thread read a file now; returns the number of the question. */
static uint64_t read_now(struct finder *f, struct question *q)
{
	uint64_t number;

	q->is_due = true;
	number = read_soon(f, q);
	f->due = number ? q : NULL;
	return number;
}

/* Takes back what the thread of functions has done, and gives it what is due. */
static void turn_to_functions(struct finder *f)
{
	const uint64_t now_ns = clock_now_ns();
	struct question *q;

	while ((q = (struct question *)errands_take(f->reading))) {
		if (q == f->due) {
			f->due = NULL;
			f->next_ns =
				now_ns + MIN(q->took_ns * PAUSE, PAUSE_MAX_S * (uint64_t)NS_PER_S);
		}
		if (q->is_put_off && !map_get(&f->put_off, q->job.image.cookie))
			put_off(f, q);
		else
			drop(&q->errand);
	}
	turn_to_lines(f, now_ns);
	if (f->due || !f->first)
		return;
	if (f->put_off.count > PUT_OFF_MAX || now_ns >= MAX(f->first->at_ns, f->next_ns))
		(void)read_now(f, take_first(f));
}

void finder_finish_functions(struct finder *f, int ms)
{
	__atomic_store_n(&f->is_finishing, true, __ATOMIC_RELAXED);
	/* The last ones asked for may yet be put off. */
	(void)errands_wait(f->reading, f->last_asked, ms);
	turn_to_functions(f);
	while (f->first)
		f->last_asked = MAX(read_now(f, take_first(f)), f->last_asked);
	if (!errands_wait(f->reading, f->last_asked, ms))
		function_store_put_off(f->store, f->last_asked - errands_finished(f->reading));
	__atomic_store_n(&f->is_finishing, false, __ATOMIC_RELAXED);
}

static void answer(struct errand *e)
{
	struct finder *f = ((struct question *)e)->finder;
	struct opener *o = f->opener;
	struct finder_job *job = &((struct question *)e)->job;
	struct text_copy copy;
	int r;

	switch (job->what) {
	case FINDER_IDENTIFY:
		(void)opener_identify(o, &job->image, &job->where);
		break;
	case FINDER_CHANGED:
		job->is_so = opener_changed(o, &job->image, &job->where);
		break;
	case FINDER_COPY:
		r = opener_text_copy(o, &job->image, &job->where, &copy);
		job->is_so = r > 0;
		job->is_gone = r < 0;
		if (job->is_so)
			job->copy = xmemdup(&copy, sizeof(copy));
		break;
	case FINDER_COUNT_:
		break;
	}
}

int finder_new(struct opener *opener, struct finder **ret, struct error *err)
{
	_cleanup_(errands_freep) struct errands *errands = NULL, *reading = NULL;
	int r = errands_new(ERRANDS_SOON, &errands, err);

	if (r == 0)
		r = errands_new(ERRANDS_FILES_SOON, &reading, err);
	if (r < 0)
		return r;
	*ret = xcalloc(1, sizeof(**ret));
	**ret = (struct finder){ .opener = opener,
				 .errands = STEAL(errands),
				 .reading = STEAL(reading) };
	(*ret)->line_keeper = line_keeper_new();
	(*ret)->end = &(*ret)->first;
	return 0;
}

void finder_free(struct finder *f)
{
	struct question *q;

	if (!f)
		return;
	while ((q = take_first(f)))
		drop(&q->errand);
	while (f->waiting_count)
		drop(&f->waiting[--f->waiting_count]->errand);
	map_done(&f->put_off);
	errands_end(f->errands);
	errands_end(f->reading);
	opener_stop(f->opener);
	errands_free(f->errands);
	errands_free(f->reading);
	line_keeper_free(f->line_keeper);
	functions_ahead_done(&f->ahead);
	free(f);
}

void finder_set_store(struct finder *f, struct function_store *store)
{
	f->store = store;
}

void finder_keep_functions(struct finder *f, const struct finder_job *job)
{
	uint64_t number;

	if (!f->store || map_get(&f->put_off, job->image.cookie))
		return;
	number = read_soon(f, make(f, job, keep_functions));
	f->asked_ns = clock_now_ns();
	if (number)
		f->last_asked = number;
	else
		function_store_put_off(f->store, 1);
}

void finder_read_ahead(struct finder *f, const struct finder_job *job)
{
	if (!f->store)
		return;
	f->asked_ns = clock_now_ns();
	/* Nobody waits for it, and what is sampled does not wait for many. */
	if (errands_left(f->reading) < AHEAD_MAX)
		(void)errands_add(f->reading, &make(f, job, read_ahead)->errand);
}

bool finder_reads(const struct finder *f)
{
	return errands_left(f->reading) > 0;
}

void finder_keep_lines(struct finder *f, const struct finder_job *job)
{
	size_t i;

	if (!f->store)
		return;
	for (i = 0; i < f->waiting_count; i++)
		if (f->waiting[i]->job.image.cookie == job->image.cookie)
			return;
	if (i < LINES_MAX)
		f->waiting[f->waiting_count++] = make(f, job, keep_lines);
	else
		function_store_count_lines(f->store, -EAGAIN);
}

struct opener *finder_opener(const struct finder *f)
{
	return f->opener;
}

uint64_t finder_ask(struct finder *f, const struct finder_job *job)
{
	return errands_add(f->errands, &make(f, job, answer)->errand);
}

uint64_t finder_answered(struct finder *f)
{
	return errands_finished(f->errands);
}

bool finder_wait(struct finder *f, uint64_t number, int ms)
{
	return errands_wait(f->errands, number, ms);
}

bool finder_take(struct finder *f, struct finder_job *ret)
{
	struct question *q = (struct question *)errands_take(f->errands);

	turn_to_functions(f);
	if (q)
		*ret = q->job;
	free(q);
	return q != NULL;
}
