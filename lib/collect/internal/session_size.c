/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/session_size.h"

#include "base/clock.h"
#include "base/mem.h"
#include "file/path.h"
#include "helper/errands.h"
#include "sfile/session.h"

#include <stdatomic.h>
#include <stdlib.h>

/* A walk. */
struct walk {
	struct errand errand;
	struct session_size *size;
	uint64_t number, bytes, took_ns;
};

struct session_size {
	char *directory;
	struct errands *errands; /* NULL: nothing was asked yet */
	atomic_ullong wanted;	 /* the number of the last walk; earlier ones end */
	bool is_asked;
};

struct session_size *session_size_new(const char *directory)
{
	struct session_size *s = xcalloc(1, sizeof(*s));

	s->directory = xstrdup(directory);
	return s;
}

void session_size_forget(struct session_size *s)
{
	atomic_fetch_add(&s->wanted, 1);
	s->is_asked = false;
}

void session_size_free(struct session_size *s)
{
	if (!s)
		return;
	session_size_forget(s);
	errands_free(s->errands);
	free(s->directory);
	free(s);
}

static void drop(struct errand *e)
{
	free(e);
}

static bool is_wanted(const void *data)
{
	const struct walk *w = data;

	return atomic_load(&w->size->wanted) == w->number;
}

static void run(struct errand *e)
{
	struct walk *w = (struct walk *)e;
	uint64_t since_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), aside;

	aside = session_aside_bytes(w->size->directory, is_wanted, w);
	w->bytes = path_disk_bytes(w->size->directory, is_wanted, w);
	w->bytes -= MIN(aside, w->bytes);
	w->took_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - since_ns;
}

bool session_size_ask(struct session_size *s)
{
	struct walk *w;

	if (!s->errands && errands_new(ERRANDS_FILES, &s->errands, NULL) < 0)
		return false;
	w = xcalloc(1, sizeof(*w));
	*w = (struct walk){ .errand = { .run = run, .drop = drop },
			    .size = s,
			    .number = atomic_fetch_add(&s->wanted, 1) + 1 };
	s->is_asked = errands_add(s->errands, &w->errand) != 0;
	return s->is_asked;
}

bool session_size_is_asked(const struct session_size *s)
{
	return s->is_asked;
}

bool session_size_take(struct session_size *s, uint64_t *ret_bytes, uint64_t *ret_took_ns)
{
	struct errand *next;

	while (s->errands && (next = errands_take(s->errands))) {
		_cleanup_free_ struct walk *w = (struct walk *)next;

		if (!is_wanted(w))
			continue;
		*ret_bytes = w->bytes;
		*ret_took_ns = w->took_ns;
		s->is_asked = false;
		return true;
	}
	return false;
}
