/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/thread_namer.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "helper/errands.h"
#include "sfile/session_names.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many threads are remembered. If there are more, names are written again. */
enum { THREADS_MAX = 65536 };
/* So many bytes of lines wait for a disk; later names are not kept. */
enum { LINES_MAX = 4 << 20 };

/* Samples do not come in the order in which they were taken: one of a shell may follow those of the
 * program that it became. So the name is that of most samples: each sample with it is a vote, each
 * with another one takes one away. Few votes are kept, so that a thread can be renamed. */
enum { VOTES_MAX = 8 };

struct thread {
	const char *comm;
	unsigned int votes;
};

/* What the thread that writes is given. */
struct job {
	struct errand errand;
	const char *samples;
	struct strbuf lines;
	int result;
	struct error why;
};

struct thread_namer {
	char *samples;
	struct map seen; /* the process and the thread: struct thread */
	struct arena arena;
	struct strbuf lines;	 /* to be written */
	struct errands *errands; /* NULL: nothing was written yet, or there is no thread for it */
	uint64_t number;	 /* of the job that the thread has; 0: none */
	bool is_told;		 /* that names are not kept */
};

static void drop(struct errand *e)
{
	struct job *j = (struct job *)e;

	strbuf_done(&j->lines);
	free(j);
}

static void run(struct errand *e)
{
	struct job *j = (struct job *)e;

	j->result = session_names_append(SESSION_NAMES_THREADS, j->samples, &j->lines, &j->why);
}

struct thread_namer *thread_namer_new(const char *samples)
{
	struct thread_namer *n = xcalloc(1, sizeof(*n));

	n->samples = xstrdup(samples);
	return n;
}

void thread_namer_let_go(struct thread_namer *n)
{
	map_done(&n->seen);
	arena_done(&n->arena);
}

/* Counts the sample of a thread with the name @comm; returns whether this becomes its name. */
static bool vote(struct thread *t, const char *comm)
{
	if (t->comm == comm) {
		t->votes = MIN(t->votes + 1, (unsigned int)VOTES_MAX);
		return false;
	}
	if (t->votes && --t->votes)
		return false;
	*t = (struct thread){ comm, 1 };
	return true;
}

static void complain(struct thread_namer *n, const char *why)
{
	if (!n->is_told)
		log_warn("%s; the names of threads are not kept", why);
	n->is_told = true;
}

void thread_namer_see(struct thread_namer *n, uint32_t tgid, uint32_t tid, const char *comm)
{
	uint64_t key = (uint64_t)tgid << 32 | tid;
	struct thread *t = map_get(&n->seen, key);
	char text[24];

	if (!(t && t->comm == comm) && !strcmp(comm, "(unknown)"))
		return;
	if (!t) {
		if (n->seen.count >= THREADS_MAX)
			thread_namer_let_go(n);
		t = arena_alloc(&n->arena, sizeof(*t));
		*t = (struct thread){ 0 };
		(void)map_set(&n->seen, key, t);
	}
	if (!vote(t, comm))
		return;
	if (n->lines.length > LINES_MAX) {
		complain(n, "the disk does not take the names of threads");
		return;
	}
	(void)snprintf(text, sizeof(text), "%" PRIu32 ".%" PRIu32, tgid, tid);
	session_names_line(&n->lines, text, comm);
}

/* Takes back what was written, or failed. */
static void take_back(struct thread_namer *n, struct job *j)
{
	if (j->result > 0)
		thread_namer_let_go(n);
	if (j->result < 0)
		complain(n, j->why.text);
	drop(&j->errand);
}

/* Takes back what the thread is done with. */
static void settle(struct thread_namer *n)
{
	struct errand *e = n->errands ? errands_take(n->errands) : NULL;

	if (!e)
		return;
	n->number = 0;
	take_back(n, (struct job *)e);
}

void thread_namer_write(struct thread_namer *n)
{
	struct job *j;

	settle(n);
	if (n->number || !n->lines.length)
		return;
	j = xcalloc(1, sizeof(*j));
	j->errand = (struct errand){ .run = run, .drop = drop };
	j->samples = n->samples;
	j->lines = n->lines;
	n->lines = STRBUF_INIT;
	if (n->errands || errands_new(ERRANDS_FILES, &n->errands, NULL) == 0) {
		n->number = errands_add(n->errands, &j->errand);
		return;
	}
	run(&j->errand);
	take_back(n, j);
}

bool thread_namer_is_busy(const struct thread_namer *n)
{
	return n->number && (n->lines.length || errands_finished(n->errands) < n->number);
}

/* Waits for what the thread has. */
static void await(struct thread_namer *n)
{
	while (n->number && !errands_wait(n->errands, n->number, INT_MAX))
		;
	settle(n);
}

void thread_namer_finish(struct thread_namer *n)
{
	await(n);
	thread_namer_write(n);
	await(n);
}

void thread_namer_forget(struct thread_namer *n)
{
	thread_namer_finish(n);
	thread_namer_let_go(n);
	n->is_told = false;
}

void thread_namer_free(struct thread_namer *n)
{
	if (!n)
		return;
	await(n);
	errands_free(n->errands);
	thread_namer_let_go(n);
	strbuf_done(&n->lines);
	free(n->samples);
	free(n);
}
