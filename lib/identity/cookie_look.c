/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is found out about the files of cookies, here or by a finder. */
#include "base/clock.h"
#include "base/mem.h"
#include "file/account.h"
#include "identity/cookie.h"
#include "identity/cookie_identify.h"
#include "identity/finder.h"
#include "identity/internal/cookie_table.h"
#include "identity/internal/text_copy.h"

#include <string.h>

/* How often at most a file is looked at for changes. */
enum { RENEW_EVERY_NS = 2000000000 };
/* How long the finder is waited for between two calls of cookie_settle(), in all; not at all after
 * it was late, until it has caught up. */
enum { WAIT_NS = 10000000 };
/* When memory is compared for which there was no room before. */
enum { PUT_OFF_NS = 250000000 };
/* How long functions are read between two syncs. */
enum { WORK_NS = 10000000 };
/* How long those that were put off are read at the end, at most. */
enum { FINISH_MS = 1000 };

struct opener *cookie_opener(const struct cookie_table *t)
{
	return t->finder ? finder_opener(t->finder) : NULL;
}

/* Asks the finder about an image; returns the number of the question. */
static uint64_t ask(const struct cookie_table *t, enum finder_what what,
		    const struct cookie_entry *e, const struct cookie_mapped *where)
{
	return finder_ask(t->finder,
			  &(struct finder_job){ .what = what, .image = e->image, .where = *where });
}

/* Identifies a file, now or when the finder has the answer. */
static void identify(struct cookie_table *t, struct cookie_entry *e,
		     const struct cookie_mapped *where)
{
	uint64_t number;

	if (!t->finder) {
		cookie_identify_file(&e->image, where, t->parser);
		return;
	}
	number = ask(t, FINDER_IDENTIFY, e, where);
	if (!number)
		return; /* the next sample asks again */
	e->image.identified = true;
	t->last_identified = number;
}

/* Notes a process that has the file mapped. */
static void note_where(struct cookie_entry *e, const struct cookie_mapped *where)
{
	/* A driver may know where only at first. */
	if (!where->start && where->tgid == e->where.tgid)
		return;
	e->where = *where;
	e->where.root = "";
}

/* Keeps the functions of a file of which code was sampled. */
static void keep_functions(struct cookie_table *t, struct cookie_entry *e,
			   const struct cookie_mapped *where)
{
	note_where(e, where);
	if (t->finder)
		finder_keep_functions(t->finder,
				      &(struct finder_job){ .image = e->image, .where = *where });
	else
		keep_functions_soon(&t->keep, &e->image, where);
	e->image.sampled = true;
}

void cookie_identify(struct cookie_table *t, uint64_t cookie, const struct cookie_mapped *where)
{
	struct cookie_entry *e = map_get(&t->by_cookie, cookie);

	if (e && e->image.kind == COOKIE_FILE && !e->image.identified)
		identify(t, e, where);
}

void cookie_keep(struct cookie_table *t, uint64_t cookie, const struct cookie_mapped *where)
{
	struct cookie_entry *e = map_get(&t->by_cookie, cookie);

	if (e && e->image.kind == COOKIE_FILE && !e->image.sampled)
		keep_functions(t, e, where);
}

void cookie_executed(struct cookie_table *t, uint64_t cookie, const struct cookie_mapped *where)
{
	struct cookie_entry *e = map_get(&t->by_cookie, cookie);

	if (t->finder && e && e->image.kind == COOKIE_FILE && !e->image.sampled &&
	    copy_limit_take(&t->ahead, account_of(where->root, where->tgid), clock_now_ns()))
		finder_read_ahead(t->finder,
				  &(struct finder_job){ .image = e->image, .where = *where });
}

void cookie_keep_lines(struct cookie_table *t, uint64_t cookie, const struct parser_places *hottest)
{
	struct cookie_entry *e = map_get(&t->by_cookie, cookie);

	if (!t->finder || !e || e->image.kind != COOKIE_FILE || !e->image.sampled ||
	    !e->image.verified)
		return;
	finder_keep_lines(t->finder, &(struct finder_job){ .image = e->image,
							   .where = e->where,
							   .places = (void *)hottest });
}

uint64_t cookie_renew(struct cookie_table *t, uint64_t cookie, const struct cookie_mapped *where,
		      uint64_t now_ns)
{
	struct cookie_entry *e = map_get(&t->by_cookie, cookie);
	bool was_sampled;

	if (!e)
		return cookie;
	(void)cookie_table_use(t, e);
	while (e->successor)
		e = e->successor;
	(void)cookie_table_use(t, e);
	if (!e->image.verified || e->looking || now_ns < e->looked_ns + RENEW_EVERY_NS)
		return e->image.cookie;
	was_sampled = e->image.sampled;
	e->looked_ns = now_ns;
	note_where(e, where);
	if (t->finder) {
		e->looking = ask(t, FINDER_CHANGED, e, where) != 0;
	} else if (cookie_file_changed(&e->image, where)) {
		e = cookie_table_succeed(t, e);
		cookie_identify_file(&e->image, where, t->parser);
	}
	/* Or notes that they are still needed. */
	if (was_sampled)
		keep_functions(t, e, where);
	return e->image.cookie;
}

void cookie_keep_in(struct cookie_table *t, struct function_store *store)
{
	if (t->finder) {
		finder_set_store(t->finder, store);
		return;
	}
	t->keep.store = store;
	t->keep.parser = t->parser;
}

void cookie_read_functions(struct cookie_table *t, bool all)
{
	if (t->finder && all)
		finder_finish_functions(t->finder, FINISH_MS);
	keep_functions_work(&t->keep, all ? UINT64_MAX : WORK_NS);
}

/* Whether it is memory that may contain what was mapped from a file before. */
static bool may_be_copy(const struct cookie_image *image)
{
	return image->kind == COOKIE_ANON
		       ? !strcmp(image->path, "anon")
		       : image->kind == COOKIE_FILE && !strncmp(image->path, "/memfd:", 7);
}

/* Notes of which file the memory is a copy. */
static void note_original(struct cookie_table *t, struct cookie_entry *e,
			  const struct text_copy *copy, const struct cookie_mapped *where)
{
	const struct cookie_mapped mapped = { where->root, where->tgid, copy->start, copy->end };

	e->original = cookie_file(t, &copy->file, copy->path);
	e->shift = copy->shift;
	cookie_identify(t, e->original, &mapped);
	cookie_keep(t, e->original, &mapped);
}

/* Waits for an answer, as long as is left of the time for that. Returns whether it came. */
static bool await_a_while(struct cookie_table *t, uint64_t number)
{
	const uint64_t since_ns = clock_now_ns(), left_ns = t->wait_left_ns;
	bool is_answered = cookie_await(t, number, (int)(left_ns / 1000000));

	t->wait_left_ns = left_ns - MIN(clock_now_ns() - since_ns, left_ns);
	return is_answered;
}

static void find_original(struct cookie_table *t, struct cookie_entry *e,
			  const struct cookie_mapped *where)
{
	bool is_awaited = !e->compared && !t->late && t->wait_left_ns;
	uint64_t number;
	struct text_copy copy;
	int r;

	e->compared_ns = clock_now_ns();
	if (t->finder) {
		number = ask(t, FINDER_COPY, e, where);
		e->compared = number != 0;
		if (is_awaited && !await_a_while(t, number))
			t->late = number;
		return;
	}
	e->compared = true;
	r = text_copy_find(t->parser, &e->image, where, &copy);
	if (r >= 0)
		e->original = 0;
	if (r > 0) {
		note_original(t, e, &copy, where);
		free(copy.path);
	}
}

/* Applies an answer. The image may be gone. */
static void settle(struct cookie_table *t, struct finder_job *job)
{
	struct cookie_entry *e = map_get(&t->by_cookie, job->image.cookie);
	bool is_new = job->what == FINDER_IDENTIFY, was_sampled;

	if (!e)
		return;
	if (job->what == FINDER_COPY) {
		if (!job->is_gone)
			e->original = 0;
		if (job->copy)
			note_original(t, e, job->copy, &job->where);
		return;
	}
	e->looking = false;
	was_sampled = e->image.sampled;
	if (job->is_so)
		e = cookie_table_succeed(t, e);
	if (!is_new && !job->is_so)
		return;
	e->image.identified = true;
	e->image.verified = job->image.verified;
	e->image.settled = job->image.settled;
	e->image.version = job->image.version;
	e->image.file.generation = job->image.file.generation;
	free(e->image.host);
	e->image.host = STEAL(job->image.host);
	if (job->is_so && was_sampled)
		keep_functions(t, e, &job->where);
}

void cookie_settle(struct cookie_table *t)
{
	struct finder_job job;

	while (t->finder && finder_take(t->finder, &job)) {
		settle(t, &job);
		finder_job_done(&job);
	}
	t->wait_left_ns = WAIT_NS;
	if (t->late && finder_wait(t->finder, t->late, 0))
		t->late = 0;
}

uint64_t cookie_asked(const struct cookie_table *t)
{
	return t->last_identified;
}

void cookie_wait(const struct cookie_table *t, uint64_t number, int ms)
{
	if (t->finder)
		(void)finder_wait(t->finder, number, ms);
}

bool cookie_await(struct cookie_table *t, uint64_t number, int ms)
{
	bool is_answered = !t->finder || finder_wait(t->finder, number, ms);
	uint64_t left_ns = t->wait_left_ns;

	cookie_settle(t);
	t->wait_left_ns = left_ns;
	return is_answered;
}

void cookie_doubt(struct cookie_table *t, uint64_t cookie)
{
	struct cookie_entry *e = cookie ? map_get(&t->by_cookie, cookie) : NULL;

	if (!e)
		return;
	e->compared = false;
	e->original = 0;
}

/* Whether it is time to compare the memory with files. */
static bool is_due(struct cookie_table *t, struct cookie_entry *e,
		   const struct cookie_mapped *where)
{
	uint64_t now_ns = clock_now_ns();

	if (e->compared && (!e->original || now_ns - e->compared_ns < RENEW_EVERY_NS))
		return false;
	if (now_ns - e->put_off_ns < PUT_OFF_NS)
		return false;
	if (copy_limit_take(&t->copies, account_of(where->root, where->tgid), now_ns))
		return true;
	e->put_off_ns = now_ns;
	t->copies_late++;
	return false;
}

uint64_t cookie_copies_late(const struct cookie_table *t)
{
	return t->copies_late;
}

uint64_t cookie_original(struct cookie_table *t, uint64_t cookie, const struct cookie_mapped *where,
			 uint64_t *offset)
{
	const struct cookie_image *image = cookie_lookup(t, cookie);
	struct cookie_entry *e =
		image && may_be_copy(image) ? map_get(&t->by_cookie, cookie) : NULL;

	if (!e)
		return cookie;
	if (is_due(t, e, where))
		find_original(t, e, where);
	if (!e->original)
		return cookie;
	*offset += e->shift;
	return e->original;
}
