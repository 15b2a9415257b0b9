/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/finder.h"

#include "base/mem.h"
#include "helper/errands.h"
#include "identity/internal/keep_functions.h"
#include "identity/internal/text_copy.h"
#include "identity/opener.h"

struct finder {
	struct opener *opener;
	struct errands *errands;
	struct errands *reading;      /* functions */
	struct function_store *store; /* of the thread of ->reading; NULL: they are not kept */
};

struct question {
	struct errand errand;
	struct finder *finder;
	struct finder_job job;
};

void finder_job_done(struct finder_job *job)
{
	free(job->image.path);
	free(job->image.host);
	if (job->copy)
		free(job->copy->path);
	free(job->copy);
	job->copy = NULL;
}

static void drop(struct errand *e)
{
	finder_job_done(&((struct question *)e)->job);
	free(e);
}

/* Adds a copy of @job; returns the number of the question. */
static uint64_t add(struct finder *f, struct errands *to, const struct finder_job *job,
		    void (*run)(struct errand *e))
{
	struct question *q = xcalloc(1, sizeof(*q));

	q->errand = (struct errand){ .run = run, .drop = drop };
	q->finder = f;
	q->job = *job;
	q->job.image.path = xstrdup(job->image.path);
	q->job.image.host = job->image.host ? xstrdup(job->image.host) : NULL;
	q->job.where.root = "";
	return errands_add(to, &q->errand);
}

static void keep_functions(struct errand *e)
{
	const struct question *q = (struct question *)e;
	const struct finder_job *job = &q->job;

	keep_functions_now(q->finder->store, q->finder->opener, &job->image, &job->where);
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
	int r = errands_new(ERRANDS_OUTSIDE, &errands, err);

	if (r == 0)
		r = errands_new(ERRANDS_FILES, &reading, err);
	if (r < 0)
		return r;
	*ret = xcalloc(1, sizeof(**ret));
	**ret = (struct finder){ opener, STEAL(errands), STEAL(reading), NULL };
	return 0;
}

void finder_free(struct finder *f)
{
	if (!f)
		return;
	errands_end(f->errands);
	errands_end(f->reading);
	opener_stop(f->opener);
	errands_free(f->errands);
	errands_free(f->reading);
	free(f);
}

void finder_set_store(struct finder *f, struct function_store *store)
{
	f->store = store;
}

void finder_keep_functions(struct finder *f, const struct finder_job *job)
{
	if (f->store)
		(void)add(f, f->reading, job, keep_functions);
}

struct opener *finder_opener(const struct finder *f)
{
	return f->opener;
}

uint64_t finder_ask(struct finder *f, const struct finder_job *job)
{
	return add(f, f->errands, job, answer);
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
	struct errand *read;

	while ((read = errands_take(f->reading)))
		drop(read);
	if (q)
		*ret = q->job;
	free(q);
	return q != NULL;
}
