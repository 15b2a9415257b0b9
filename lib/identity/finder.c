/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/finder.h"

#include "base/clock.h"
#include "base/mem.h"
#include "identity/internal/text_copy.h"
#include "identity/opener.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Questions that may wait. */
enum { QUEUE_MAX = 8192 };

struct entry {
	struct finder_job job;
	struct entry *next;
};

/* First in, first out. */
struct queue {
	struct entry *first, **end;
	size_t count;
};

struct finder {
	struct opener *opener;
	pthread_t thread;
	pthread_mutex_t lock; /* over all that follows */
	pthread_cond_t changed;
	struct queue questions, answers;
	uint64_t asked, answered;
	bool ends;
};

static void put(struct queue *q, struct entry *e)
{
	e->next = NULL;
	if (!q->first)
		q->end = &q->first;
	*q->end = e;
	q->end = &e->next;
	q->count++;
}

static struct entry *take(struct queue *q)
{
	struct entry *e = q->first;

	if (e) {
		q->first = e->next;
		q->count--;
	}
	return e;
}

void finder_job_done(struct finder_job *job)
{
	free(job->image.path);
	free(job->image.host);
	if (job->copy)
		free(job->copy->path);
	free(job->copy);
	job->copy = NULL;
}

static void entry_free(struct entry *e)
{
	finder_job_done(&e->job);
	free(e);
}

static void answer(struct opener *o, struct finder_job *job)
{
	struct text_copy copy;

	switch (job->what) {
	case FINDER_IDENTIFY:
		(void)opener_identify(o, &job->image, &job->where);
		break;
	case FINDER_CHANGED:
		job->is_so = opener_changed(o, &job->image, &job->where);
		break;
	case FINDER_COPY:
		job->is_so = opener_text_copy(o, &job->image, &job->where, &copy);
		if (job->is_so)
			job->copy = xmemdup(&copy, sizeof(copy));
		break;
	case FINDER_COUNT_:
		break;
	}
}

/* Gives up the capabilities of this thread, which only talks to others. */
static void renounce(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	(void)syscall(SYS_capset, &head, none);
}

static void *serve(void *data)
{
	struct finder *f = data;
	struct entry *e;

	renounce();
	(void)pthread_mutex_lock(&f->lock);
	while (!f->ends) {
		e = take(&f->questions);
		if (!e) {
			(void)pthread_cond_wait(&f->changed, &f->lock);
			continue;
		}
		(void)pthread_mutex_unlock(&f->lock);
		answer(f->opener, &e->job);
		(void)pthread_mutex_lock(&f->lock);
		put(&f->answers, e);
		f->answered++;
		(void)pthread_cond_broadcast(&f->changed);
	}
	(void)pthread_mutex_unlock(&f->lock);
	return NULL;
}

static void init_lock(struct finder *f)
{
	pthread_condattr_t clock;

	(void)pthread_mutex_init(&f->lock, NULL);
	(void)pthread_condattr_init(&clock);
	(void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&f->changed, &clock);
	(void)pthread_condattr_destroy(&clock);
}

static void finder_done(struct finder *f)
{
	struct entry *e;

	while ((e = take(&f->questions)) || (e = take(&f->answers)))
		entry_free(e);
	(void)pthread_cond_destroy(&f->changed);
	(void)pthread_mutex_destroy(&f->lock);
	free(f);
}

int finder_new(struct opener *opener, struct finder **ret, struct error *err)
{
	struct finder *f = xcalloc(1, sizeof(*f));
	sigset_t all, before;
	int r;

	f->opener = opener;
	init_lock(f);
	/* Another thread waits for signals; SIGSYS reports a refused system call. */
	(void)sigfillset(&all);
	(void)sigdelset(&all, SIGSYS);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&f->thread, NULL, serve, f);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r) {
		finder_done(f);
		return error_errno(err, -r, "cannot start a thread");
	}
	*ret = f;
	return 0;
}

void finder_free(struct finder *f)
{
	if (!f)
		return;
	(void)pthread_mutex_lock(&f->lock);
	f->ends = true;
	(void)pthread_cond_broadcast(&f->changed);
	(void)pthread_mutex_unlock(&f->lock);
	opener_stop(f->opener);
	(void)pthread_join(f->thread, NULL);
	finder_done(f);
}

struct opener *finder_opener(const struct finder *f)
{
	return f->opener;
}

static struct entry *entry_of(const struct finder_job *job)
{
	struct entry *e = xcalloc(1, sizeof(*e));

	e->job = *job;
	e->job.image.path = xstrdup(job->image.path);
	e->job.image.host = job->image.host ? xstrdup(job->image.host) : NULL;
	e->job.where.root = "";
	return e;
}

uint64_t finder_ask(struct finder *f, const struct finder_job *job)
{
	struct entry *e = entry_of(job);
	uint64_t number = 0;

	(void)pthread_mutex_lock(&f->lock);
	if (f->questions.count < QUEUE_MAX) {
		put(&f->questions, STEAL(e));
		number = ++f->asked;
		(void)pthread_cond_broadcast(&f->changed);
	}
	(void)pthread_mutex_unlock(&f->lock);
	if (e)
		entry_free(e);
	return number;
}

uint64_t finder_answered(struct finder *f)
{
	uint64_t number;

	(void)pthread_mutex_lock(&f->lock);
	number = f->answered;
	(void)pthread_mutex_unlock(&f->lock);
	return number;
}

bool finder_wait(struct finder *f, uint64_t number, int ms)
{
	uint64_t until_ns = clock_now_ns() + (uint64_t)ms * 1000000;
	struct timespec until = { (time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S) };
	bool is_answered;
	int r = 0;

	(void)pthread_mutex_lock(&f->lock);
	while (f->answered < number && r == 0)
		r = pthread_cond_timedwait(&f->changed, &f->lock, &until);
	is_answered = f->answered >= number;
	(void)pthread_mutex_unlock(&f->lock);
	return is_answered;
}

bool finder_take(struct finder *f, struct finder_job *ret)
{
	struct entry *e;

	(void)pthread_mutex_lock(&f->lock);
	e = take(&f->answers);
	(void)pthread_mutex_unlock(&f->lock);
	if (e)
		*ret = e->job;
	free(e);
	return e != NULL;
}
