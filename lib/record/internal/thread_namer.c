/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/thread_namer.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "sfile/session_names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many threads are remembered. If there are more, names are written again. */
enum { THREADS_MAX = 65536 };

/* Samples do not come in the order in which they were taken: one of a shell may follow those of the
 * program that it became. So the name is that of most samples: each sample with it is a vote, each
 * with another one takes one away. Few votes are kept, so that a thread can be renamed. */
enum { VOTES_MAX = 8 };

struct thread {
	const char *comm;
	unsigned int votes;
};

struct thread_namer {
	char *samples;
	struct map seen; /* the process and the thread: struct thread */
	struct arena arena;
	struct strbuf lines;
	bool is_told; /* that writing failed */
};

struct thread_namer *thread_namer_new(const char *samples)
{
	struct thread_namer *n = xcalloc(1, sizeof(*n));

	n->samples = xstrdup(samples);
	return n;
}

static void forget_all(struct thread_namer *n)
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

void thread_namer_see(struct thread_namer *n, uint32_t tgid, uint32_t tid, const char *comm)
{
	uint64_t key = (uint64_t)tgid << 32 | tid;
	struct thread *t = map_get(&n->seen, key);
	char text[24];

	if (!(t && t->comm == comm) && !strcmp(comm, "(unknown)"))
		return;
	if (!t) {
		if (n->seen.count >= THREADS_MAX)
			forget_all(n);
		t = arena_alloc(&n->arena, sizeof(*t));
		*t = (struct thread){ 0 };
		(void)map_set(&n->seen, key, t);
	}
	if (!vote(t, comm))
		return;
	(void)snprintf(text, sizeof(text), "%" PRIu32 ".%" PRIu32, tgid, tid);
	session_names_line(&n->lines, text, comm);
}

void thread_namer_write(struct thread_namer *n)
{
	struct error err = ERROR_INIT;
	int r;

	if (!n->lines.length)
		return;
	r = session_names_append(SESSION_NAMES_THREADS, n->samples, &n->lines, &err);
	if (r > 0)
		forget_all(n);
	if (r < 0) {
		if (!n->is_told)
			log_warn("%s; the names of threads are not kept", err.text);
		n->is_told = true;
	}
	strbuf_clear(&n->lines);
}

void thread_namer_forget(struct thread_namer *n)
{
	thread_namer_write(n);
	forget_all(n);
	n->is_told = false;
}

void thread_namer_free(struct thread_namer *n)
{
	if (!n)
		return;
	forget_all(n);
	strbuf_done(&n->lines);
	free(n->samples);
	free(n);
}
