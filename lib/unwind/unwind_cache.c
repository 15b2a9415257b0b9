/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_cache.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"

#include <errno.h>

enum {
	/* Rounds until an image that could not be opened, or was left out, is tried again. */
	RETRY_ROUNDS = 64,
	/* Number of images that are known; beyond, all are forgotten. */
	IMAGES_MAX = 16384,
};

struct entry {
	struct unwind_table *table; /* NULL: none, for the reason in ->stop */
	enum chain_end stop;
	bool may_retry;	 /* the reason may be temporary */
	bool is_awaited; /* unwind_cache_answer() will be called */
	uint64_t round;	 /* of the last use, or of the last attempt if there is no table */
	uint64_t serial; /* order of the last uses */
};

struct unwind_cache {
	struct map entries; /* struct entry by key */
	struct unwind_rules *rules;
	size_t budget;
	uint64_t round, serial;
	struct unwind_cache_stats stats;
};

struct unwind_cache *unwind_cache_new(size_t budget)
{
	struct unwind_cache *c = xcalloc(1, sizeof(*c));

	c->budget = budget;
	c->rules = unwind_rules_new();
	c->round = RETRY_ROUNDS;
	return c;
}

static void drop_table(struct unwind_cache *c, struct entry *e)
{
	c->stats.bytes -= unwind_table_bytes(e->table);
	c->stats.tables--;
	unwind_table_free(e->table);
	e->table = NULL;
}

void unwind_cache_free(struct unwind_cache *c)
{
	if (!c)
		return;
	map_for_each (&c->entries, slot) {
		struct entry *e = slot->value;

		unwind_table_free(e->table);
		free(e);
	}
	map_done(&c->entries);
	unwind_rules_free(c->rules);
	free(c);
}

/* The least recently used table; NULL if all were used in this round or the one before. */
static struct entry *find_oldest(const struct unwind_cache *c)
{
	struct entry *oldest = NULL;

	map_for_each (&c->entries, slot) {
		struct entry *e = slot->value;

		if (e->table && e->round + 1 < c->round && (!oldest || e->serial < oldest->serial))
			oldest = e;
	}
	return oldest;
}

/* Makes room for @bytes; false if that is impossible. */
static bool make_room(struct unwind_cache *c, size_t bytes)
{
	struct entry *e;

	if (bytes > c->budget)
		return false;
	while (c->stats.bytes + bytes > c->budget) {
		e = find_oldest(c);
		if (!e)
			return false;
		drop_table(c, e);
		/* Built again when next needed. */
		e->may_retry = true;
		e->round = c->round - RETRY_ROUNDS;
		c->stats.counters.unwind_evicted++;
	}
	return true;
}

static void fill(struct unwind_cache *c, struct entry *e, uint64_t key, unwind_cache_build *build,
		 void *data)
{
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	uint64_t since_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int r;

	e->stop = CHAIN_END_NO_TABLE;
	e->may_retry = false;
	r = build(data, key, c->rules, &table);
	e->is_awaited = r == -EINPROGRESS;
	if (e->is_awaited) {
		e->stop = CHAIN_END_NOT_LOADED;
		return;
	}
	if (r == -ENOENT) {
		e->may_retry = true;
		c->stats.counters.unwind_unopened++;
		return;
	}
	if (r == -EDQUOT) {
		e->may_retry = true;
		c->stats.counters.unwind_put_off++;
		return;
	}
	if (r < 0) {
		c->stats.counters.unwind_none++;
		return;
	}
	c->stats.counters.unwind_built++;
	c->stats.counters.unwind_partial +=
		unwind_rules_missing(c->rules, table->rows, table->row_count) > 0;
	c->stats.counters.unwind_build_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - since_ns;
	if (!make_room(c, unwind_table_bytes(table))) {
		e->stop = CHAIN_END_NO_BUDGET;
		e->may_retry = true;
		c->stats.counters.unwind_refused++;
		return;
	}
	e->table = STEAL(table);
	c->stats.tables++;
	c->stats.bytes += unwind_table_bytes(e->table);
	c->stats.bytes_max = MAX(c->stats.bytes_max, c->stats.bytes);
}

enum chain_end unwind_cache_find(struct unwind_cache *c, uint64_t key, unwind_cache_build *build,
				 void *data, const struct unwind_table **ret)
{
	struct entry *e = map_get(&c->entries, key);
	bool is_new = !e;

	if (is_new) {
		e = xcalloc(1, sizeof(*e));
		map_set(&c->entries, key, e);
	}
	if (!e->table && (is_new || (e->may_retry && c->round >= e->round + RETRY_ROUNDS))) {
		fill(c, e, key, build, data);
		e->round = c->round;
	}
	if (!e->table)
		return e->stop;
	e->round = c->round;
	e->serial = ++c->serial;
	*ret = e->table;
	return CHAIN_GOES_ON;
}

void unwind_cache_answer(struct unwind_cache *c, uint64_t key, unwind_cache_build *build,
			 void *data)
{
	struct entry *e = map_get(&c->entries, key);

	/* If all were forgotten since, the next search asks again. */
	if (!e || !e->is_awaited)
		return;
	fill(c, e, key, build, data);
	e->round = c->round;
}

/* Drops all tables and their rules, and forgets the images without a table. */
static void start_over(struct unwind_cache *c)
{
	map_for_each (&c->entries, slot) {
		struct entry *e = slot->value;

		c->stats.counters.unwind_evicted += e->table != NULL;
		if (e->table)
			drop_table(c, e);
		free(e);
	}
	map_done(&c->entries);
	unwind_rules_clear(c->rules);
}

void unwind_cache_round(struct unwind_cache *c)
{
	c->round++;
	if (unwind_rules_nearly_full(c->rules) || c->entries.count > IMAGES_MAX)
		start_over(c);
}

const struct unwind_rules *unwind_cache_rules(const struct unwind_cache *c)
{
	return c->rules;
}

const struct unwind_cache_stats *unwind_cache_stats(const struct unwind_cache *c)
{
	return &c->stats;
}
