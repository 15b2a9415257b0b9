/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/jit_reader.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "jit/jit.h"
#include "parser/parser.h"
#include "record/internal/jit_files.h"

enum { WAITING_MAX = 131072 }; /* samples, of all processes */

/* Time to spend in a call, whatever was written: the caller has samples to drain. */
static const uint64_t sync_max = NS_PER_S / 40, sync_max_all = 2 * NS_PER_S;

struct jit_reader {
	char *root;
	uint64_t memory;
	struct map users;     /* struct jit_user by uid; those with processes */
	struct map processes; /* struct jit_process by tgid */
	size_t bytes, waiting;
	uint64_t turn;
	struct jit_reader_stats stats;
};

struct jit_reader *jit_reader_new(const char *root, uint64_t memory)
{
	struct jit_reader *r = xcalloc(1, sizeof(*r));

	r->root = xstrdup(root);
	r->memory = memory ?: JIT_MEMORY_DEFAULT;
	return r;
}

void jit_reader_free(struct jit_reader *r)
{
	if (!r)
		return;
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
	p->reader = r;
	p->files = jit_files_new(r->root, tgid);
	p->user = user_of(r, jit_files_owner(p->files));
	p->user->processes++;
	p->jit = jit_new();
	(void)map_set(&r->processes, tgid, p);
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

/* Counts the pieces of code that were dropped; the first are logged. */
static void count_dropped(struct jit_process *p)
{
	size_t dropped = jit_dropped(p->jit);

	if (dropped && !p->dropped)
		log_warn(
			"process %u: pieces of its code are invalid or too many, and have no names",
			p->tgid);
	p->reader->stats.jit_dropped += dropped - p->dropped;
	p->dropped = dropped;
}

void jit_process_free(struct jit_process *p)
{
	size_t i;

	if (!p)
		return;
	count_bytes(p, 0);
	leave_user(p);
	(void)map_remove(&p->reader->processes, p->tgid);
	for (i = 0; i < p->source_count; i++)
		jit_source_free(p->sources[i]);
	jit_files_free(p->files);
	jit_free(p->jit);
	free(p);
}

bool jit_process_search(struct jit_process *p)
{
	size_t count = p->source_count;
	struct jit_source *s;

	while (p->source_count < JIT_SOURCES_MAX && (s = jit_files_next(p->files)))
		p->sources[p->source_count++] = s;
	return p->source_count > count;
}

/* The share of @total of a user who has taken @own, when all have taken @all: half of what the
 * others leave. */
static uint64_t share_of(uint64_t total, uint64_t all, uint64_t own)
{
	return (total - MIN(total, all - own)) / 2;
}

bool jit_process_may_wait(struct jit_process *p)
{
	if (p->user->waiting >= share_of(WAITING_MAX, p->reader->waiting, p->user->waiting))
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
	uint64_t own = p->user->bytes, share = share_of(r->memory, r->bytes, own);

	if (own < share) {
		/* The last quarter is for names. */
		jit_limit_detail(p->jit, p->bytes + share / 4 * 3 - MIN(share / 4 * 3, own));
		p->put_off = false;
		return true;
	}
	if (!p->put_off) {
		r->stats.jit_put_off++;
		log_warn("process %u: the code of its user's processes takes %zu MiB of memory; it "
			 "gets no more names until there is room",
			 p->tgid, (size_t)own >> 20);
	}
	p->put_off = true;
	return false;
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

static void drop_source(struct jit_process *p, size_t i)
{
	jit_source_free(p->sources[i]);
	p->sources[i] = p->sources[--p->source_count];
}

/* Reads a portion; returns the bytes read, 0 if there is no more. */
static uint64_t take_turn(struct jit_process *p, struct parser *parser, uint64_t now)
{
	size_t i = 0;

	p->turn = p->user->turn = ++p->reader->turn;
	while (i < p->source_count) {
		struct error err = ERROR_INIT;
		int64_t n = parser_jit(parser, p->sources[i], p->jit, now, &err);

		if (n > 0)
			return (uint64_t)n;
		if (n == 0) {
			i++;
			continue;
		}
		log_warn("%s: code of process %u after this point has no names", err.text, p->tgid);
		drop_source(p, i);
	}
	p->unread = false;
	p->known = now;
	return 0;
}

/* Finds out whose sources have grown. */
static void look_for_growth(struct jit_reader *r, uint64_t now)
{
	map_for_each (&r->processes, slot) {
		struct jit_process *p = slot->value;
		size_t i = 0;

		while (i < p->source_count && !jit_source_grew(p->sources[i]))
			i++;
		p->unread = i < p->source_count;
		if (!p->unread)
			p->known = now;
	}
}

void jit_reader_sync(struct jit_reader *r, struct parser *parser, uint64_t now, bool all)
{
	uint64_t end = clock_now_ns() + (all ? sync_max_all : sync_max), bytes = 0;
	uint64_t bytes_max = all ? JIT_SYNC_BYTES_ALL : JIT_SYNC_BYTES;
	struct jit_process *p;

	look_for_growth(r, now);
	while (bytes < bytes_max && (p = next_process(r))) {
		bytes += take_turn(p, parser, now);
		count_bytes(p, jit_bytes(p->jit));
		count_dropped(p);
		if (clock_now_ns() >= end)
			break;
	}
}

void jit_reader_stats(const struct jit_reader *r, struct jit_reader_stats *ret)
{
	*ret = r->stats;
}
