/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/code/jit_reader.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/share.h"
#include "helper/relief.h"
#include "jit/jit.h"
#include "parser/parser.h"
#include "record/code/jit_errand.h"
#include "record/code/internal/jit_reader_state.h"

#include <errno.h>
#include <string.h>

enum { WAITING_MAX = 131072 }; /* samples, of all processes */

/* Time to spend in a call, whatever was written: the caller has samples to drain. If its loop has
 * turns, it calls more often. */
static const uint64_t sync_max = NS_PER_S / 125, turn_max = NS_PER_S / 500,
		      sync_max_all = 2 * NS_PER_S;
enum { BYTES_SHARE = 4 }; /* of those for a call, in a turn */
/* How long an answer is waited for at most. */
enum { WAIT_MS = 500 };

void jit_reader_relieve(struct jit_reader *r, struct relief *relief)
{
	r->relief = relief;
}

struct jit_reader *jit_reader_new(const char *root, uint64_t memory, struct opener *opener)
{
	struct jit_reader *r = xcalloc(1, sizeof(*r));

	r->root = xstrdup(root);
	r->memory = memory ?: JIT_MEMORY_DEFAULT;
	r->opener = opener;
	r->of_memory.what = "code of a process takes too much memory to get more names";
	r->of_pieces.what = "pieces of a process's code are invalid or too many";
	r->of_closing.what = "code of a process has no names, as files of others cannot be closed";
	r->of_sources.what = "a description of a process's code could not be read further";
	return r;
}

void jit_reader_free(struct jit_reader *r)
{
	if (!r)
		return;
	errands_free(r->errands);
	errands_leave(r->closing);
	map_done(&r->users);
	map_done(&r->processes);
	free(r->root);
	free(r);
}

static struct jit_user *user_of(struct jit_reader *r, uint32_t uid)
{
	struct jit_user *user = map_get(&r->users, uid);

	if (user)
		return user;
	user = xcalloc(1, sizeof(*user));
	user->uid = uid;
	(void)map_set(&r->users, uid, user);
	return user;
}

struct jit_process *jit_process_new(struct jit_reader *r, uint32_t tgid)
{
	struct jit_process *p = xcalloc(1, sizeof(*p));

	p->tgid = tgid;
	p->serial = ++r->serial;
	p->reader = r;
	p->files = jit_files_new(r->root, tgid);
	p->user = user_of(r, jit_files_query(p->files)->owner);
	p->user->processes++;
	p->jit = jit_new();
	(void)map_set(&r->processes, tgid, p);
	jit_process_begin_search(p);
	return p;
}

static void leave_user(struct jit_process *p)
{
	if (--p->user->processes)
		return;
	(void)map_remove(&p->reader->users, p->user->uid);
	free(p->user);
}

/* Notes how much memory the process's code takes. */
static void count_bytes(struct jit_process *p, size_t bytes)
{
	p->user->bytes += bytes - p->bytes;
	p->reader->bytes += bytes - p->bytes;
	p->bytes = bytes;
}

static bool may_complain(const struct jit_process *p, struct jit_complaints *c)
{
	return jit_complaints_may(c, p->user->uid, p->reader->now);
}

/* Counts the pieces of code that were dropped; the first are logged. */
static void count_dropped(struct jit_process *p)
{
	size_t dropped = jit_dropped(p->jit);

	if (dropped && !p->dropped && may_complain(p, &p->reader->of_pieces))
		log_warn(
			"process %u: pieces of its code are invalid or too many, and have no names",
			p->tgid);
	p->reader->stats.jit_dropped += dropped - p->dropped;
	p->dropped = dropped;
}

/* Files that are not needed any more. */
struct leaving {
	struct errand errand;
	struct jit_files *files; /* or NULL */
	struct jit_source *sources[JIT_FILES_MAX];
	size_t count;
};

static void close_files(struct errand *e)
{
	struct leaving *l = (struct leaving *)e;

	while (l->count)
		jit_source_free(l->sources[--l->count]);
	jit_files_free(STEAL(l->files));
}

static void drop_files(struct errand *e)
{
	close_files(e); /* if it was not run */
	free(e);
}

/* Has sources closed from number @from on, and @files (may be NULL). */
static void leave_files(struct jit_process *p, size_t from, struct jit_files *files)
{
	struct leaving *l = xcalloc(1, sizeof(*l));

	*l = (struct leaving){ .errand = { .run = close_files, .drop = drop_files },
			       .files = files,
			       .count = p->source_count - from };
	memcpy(l->sources, p->sources + from, l->count * sizeof(*p->sources));
	p->source_count = from;
	jit_reader_close(p->reader, &l->errand);
}

void jit_process_free(struct jit_process *p)
{
	if (!p)
		return;
	count_bytes(p, 0);
	leave_user(p);
	(void)map_remove(&p->reader->processes, p->tgid);
	leave_files(p, 0, STEAL(p->files));
	jit_free(p->found_early);
	jit_free(p->jit);
	free(p);
}

/* Begins to read maps again that were written again. */
static void read_again(struct jit_process *p)
{
	size_t i;

	for (i = 0; p->again && i < p->source_count; i++)
		jit_source_again(p->sources[i]);
	p->again = false;
}

/* --- limits --- */

bool jit_process_may_wait(struct jit_process *p)
{
	if (p->user->waiting >= share_of_user(WAITING_MAX, p->reader->waiting, p->user->waiting))
		return false;
	p->user->waiting++;
	p->reader->waiting++;
	return true;
}

void jit_process_waited(struct jit_process *p, size_t count)
{
	p->user->waiting -= count;
	p->reader->waiting -= count;
}

/* Notes whether the process may be read further; the first time that it may not is logged. */
static bool has_memory(struct jit_process *p)
{
	struct jit_reader *r = p->reader;
	uint64_t own = p->user->bytes, of_user = share_of_user(r->memory, r->bytes, own);
	uint64_t share = share_of_process(of_user, p->bytes);

	if (own < share) {
		/* The last quarter is for names. */
		jit_limit_detail(p->jit, p->bytes + share / 4 * 3 - MIN(share / 4 * 3, own));
		p->put_off = false;
		return true;
	}
	r->stats.jit_put_off += !p->put_off;
	if (!p->put_off && may_complain(p, &r->of_memory))
		log_warn("process %u: its code takes %zu MiB of memory, that of its user's "
			 "processes %zu; it gets no more names until there is room",
			 p->tgid, p->bytes >> 20, (size_t)own >> 20);
	p->put_off = true;
	return false;
}

void jit_process_add(struct jit_process *p, const struct jit_code *code)
{
	if (!has_memory(p))
		return;
	jit_load(p->jit, code);
	count_bytes(p, jit_bytes(p->jit));
	count_dropped(p);
}

static bool comes_before(const struct jit_process *a, const struct jit_process *b)
{
	if (a->user != b->user)
		return a->user->turn < b->user->turn;
	return a->turn < b->turn;
}

/* The process whose turn it is, or NULL: that of the user who waits longest. */
static struct jit_process *next_process(struct jit_reader *r)
{
	struct jit_process *best = NULL;

	map_for_each (&r->processes, slot) {
		struct jit_process *p = slot->value;

		if (p->unread && (!best || comes_before(p, best)) && has_memory(p))
			best = p;
	}
	return best;
}

/* --- reading --- */

/* Notes the result of reading source @i of a process: the number of bytes, 0 if there is no more,
 * or negative. Returns the number of bytes. */
static uint64_t note_read(struct jit_process *p, size_t i, int64_t n, const struct error *why)
{
	struct jit_source *failed;

	if (n < 0) {
		if (may_complain(p, &p->reader->of_sources))
			log_warn("%s: code of process %u after this point has no names", why->text,
				 p->tgid);
		failed = p->sources[i];
		p->sources[i] = p->sources[p->source_count - 1];
		p->sources[p->source_count - 1] = failed;
		leave_files(p, p->source_count - 1, NULL);
	} else if (n == 0) {
		p->at = i + 1;
	}
	count_bytes(p, jit_bytes(p->jit));
	count_dropped(p);
	return (uint64_t)MAX(n, (int64_t)0);
}

/* Reads a portion, or asks for it; returns the bytes read, 0 if there is no more. */
static uint64_t take_turn(struct jit_process *p, struct parser *parser, uint64_t now)
{
	struct jit_reader *r = p->reader;
	struct error err = ERROR_INIT;
	uint64_t n = 0;

	p->turn = p->user->turn = ++r->turn;
	while (!n && p->at < p->source_count) {
		struct jit_source *s = p->sources[p->at];

		if (!jit_source_grew(s)) {
			p->at++;
			continue;
		}
		if (!r->opener) {
			n = note_read(p, p->at, parser_jit(parser, s, p->jit, now, &err), &err);
			continue;
		}
		r->reading =
			jit_reader_send(r, jit_errand_read(r->opener, p->serial, p->files, s, now));
		if (r->reading)
			return 0;
		p->at++;
	}
	if (!n)
		p->unread = false;
	return n;
}

/* Whether a file may be read later that could not be read now: its server does not answer, or
 * another process has a lease on it. */
static bool may_pass(int code)
{
	return code == -EHOSTDOWN || code == -ETIME || code == -ECANCELED || code == -EWOULDBLOCK;
}

/* Takes a portion of a source; returns the number of bytes. */
static uint64_t take_portion(struct jit_process *p, struct parser *parser,
			     const struct jit_errand *e)
{
	struct error err = ERROR_INIT;
	int64_t n = 0;
	size_t i = 0;

	while (i < p->source_count && p->sources[i] != e->source)
		i++;
	if (i == p->source_count)
		return 0;
	if (e->code == 0)
		n = parser_jit_take(parser, e->bytes, e->size, p->sources[i], p->jit, &err);
	else if (!may_pass(e->code))
		n = error_set(&err, e->code, "%s: could not be read: %s", e->from.name,
			      strerror(-e->code));
	return note_read(p, i, n, &err);
}

/* Applies the answers that have come; returns the number of bytes that were read. */
static uint64_t take_answers(struct jit_reader *r, struct parser *parser)
{
	struct errand *next;
	uint64_t bytes = 0;

	while (r->errands && (next = errands_take(r->errands))) {
		_cleanup_(jit_errand_freep) struct jit_errand *e = (struct jit_errand *)next;
		struct jit_process *p = map_get(&r->processes, e->query.tgid);

		r->taken++;
		r->reading = r->reading && !e->source;
		if (!p || p->serial != e->serial)
			jit_reader_close(r, jit_errand_closing(STEAL(e)));
		else if (e->source)
			bytes += take_portion(p, parser, e);
		else
			jit_process_take_search(p, e);
	}
	return bytes;
}

/* Waits until @end_ns for an answer; not for one that was late in the call before unless @all.
 * Returns whether there is one to take. */
static bool await(struct jit_reader *r, uint64_t end_ns, bool all)
{
	bool has_come;
	uint64_t now_ns = clock_now_ns();
	int ms = now_ns < end_ns ? (int)MIN((end_ns - now_ns) / 1000000 + 1, (uint64_t)WAIT_MS) : 0;

	if (r->taken == r->asked)
		return false;
	relief_leave(r->relief);
	has_come =
		errands_wait(r->errands, r->taken + 1, r->taken < r->asked_before && !all ? 0 : ms);
	relief_return(r->relief);
	return has_come;
}

/* Finds out whose sources have grown. */
static void look_for_growth(struct jit_reader *r)
{
	map_for_each (&r->processes, slot) {
		struct jit_process *p = slot->value;
		size_t i = 0;

		p->at = p->source_count;
		p->unread = false;
		if (p->java.state == JAVA_MAP_ASKED) /* it is being written */
			continue;
		read_again(p);
		while (i < p->source_count && !jit_source_grew(p->sources[i]))
			i++;
		p->at = i;
		p->unread = i < p->source_count;
	}
}

/* Notes of which processes all is known that they have written. */
static void note_known(struct jit_reader *r, uint64_t now)
{
	map_for_each (&r->processes, slot) {
		struct jit_process *p = slot->value;

		if (!p->searched || p->unread || p->searching || p->java.state == JAVA_MAP_ASKED)
			continue;
		p->known = now;
		jit_process_add_early(p);
		java_map_read(&p->java, jit_count(p->jit));
	}
}

void jit_reader_sync(struct jit_reader *r, struct parser *parser, uint64_t now, bool all)
{
	const bool is_turn = !all && r->relief;
	uint64_t end_ns = clock_now_ns() + (all ? sync_max_all : is_turn ? turn_max : sync_max);
	uint64_t bytes_max = all ? JIT_SYNC_BYTES_ALL : JIT_SYNC_BYTES, bytes = 0;
	struct jit_process *p;

	if (is_turn)
		bytes_max /= BYTES_SHARE;
	r->now = now;
	jit_complaints_sum_up(&r->of_memory, now);
	jit_complaints_sum_up(&r->of_pieces, now);
	jit_complaints_sum_up(&r->of_sources, now);
	jit_complaints_sum_up(&r->of_closing, now);
	(void)take_answers(r, parser);
	jit_reader_take_java(r);
	look_for_growth(r);
	do {
		p = r->reading ? NULL : next_process(r);
		if (p)
			bytes += take_turn(p, parser, now);
		if (await(r, end_ns, all))
			bytes += take_answers(r, parser);
		else if (r->taken < r->asked)
			break;
	} while (bytes < bytes_max && clock_now_ns() < end_ns &&
		 (p || r->taken < r->asked || next_process(r)));
	r->asked_before = r->asked;
	note_known(r, now);
}

bool jit_reader_has_more(const struct jit_reader *r)
{
	map_for_each (&r->processes, slot) {
		const struct jit_process *p = slot->value;

		if (p->unread && !p->put_off)
			return true;
	}
	return r->taken < r->asked || jit_reader_is_asking(r);
}

uint64_t jit_process_known_until(const struct jit_process *p)
{
	uint64_t known = p->known;
	size_t i;

	for (i = 0; i < p->source_count; i++)
		if (jit_source_timed(p->sources[i]))
			known = MIN(known, jit_source_time(p->sources[i]));
	return known;
}

void jit_reader_stats(const struct jit_reader *r, struct jit_reader_stats *ret)
{
	*ret = (struct jit_reader_stats){ r->stats.jit_dropped, r->stats.jit_put_off,
					  r->stats.java_maps, r->stats.java_refused };
}
