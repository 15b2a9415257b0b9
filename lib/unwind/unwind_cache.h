/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables of many images within a memory budget: built when first needed, dropped when the
 * room is needed for others, least recently used first. The cache owns the tables; one that was
 * returned is valid until the next unwind_cache_find().
 *
 *	struct unwind_cache *cache = unwind_cache_new(64 << 20);
 *
 *	if (unwind_cache_find(cache, cookie, build_table, data, &table) == CHAIN_GOES_ON)
 *		rule = unwind_table_find(table, pc);
 *	unwind_cache_round(cache);
 *	unwind_cache_free(cache);
 *
 * Time is counted in rounds. A table that would need the room of tables used in this round or the
 * one before is left out for a while, so that too small a budget costs call chains (callers count
 * them, CHAIN_END_NO_BUDGET) and not time.
 */
#pragma once

#include "stats/counters.h"
#include "unwind/unwind.h"

struct unwind_cache_stats {
	struct unwind_counters counters;
	size_t tables, bytes; /* in memory now */
	size_t bytes_max;     /* the most so far */
};

struct unwind_cache;

/* Builds the table of the image @key with @rules into *@ret, which the cache takes. 0, -ENOENT if
 * the file cannot be opened at present, -EINPROGRESS if unwind_cache_answer() will be called, or
 * another error if the image has no table. */
typedef int unwind_cache_build(void *data, uint64_t key, struct unwind_rules *rules,
			       struct unwind_table **ret);

/* Makes an empty cache whose tables take up to @budget bytes; caller frees. */
struct unwind_cache *unwind_cache_new(size_t budget);
/* Frees it with all tables; NULL is fine. */
void unwind_cache_free(struct unwind_cache *c);
DEFINE_CLEANUP(struct unwind_cache *, unwind_cache_free);

/* Finds the table of the image @key, and builds it if necessary. Returns CHAIN_GOES_ON, or why
 * there is none: CHAIN_END_NO_TABLE, CHAIN_END_NO_BUDGET or, while it is being built,
 * CHAIN_END_NOT_LOADED. */
enum chain_end unwind_cache_find(struct unwind_cache *c, uint64_t key, unwind_cache_build *build,
				 void *data, const struct unwind_table **ret);
/* Has @build make the table of @key, which was in progress. */
void unwind_cache_answer(struct unwind_cache *c, uint64_t key, unwind_cache_build *build,
			 void *data);
/* Ends a round. Drops all tables if there are too many rules or images. */
void unwind_cache_round(struct unwind_cache *c);

/* The rules of all its tables; borrowed. */
const struct unwind_rules *unwind_cache_rules(const struct unwind_cache *c);
/* Totals; borrowed. */
const struct unwind_cache_stats *unwind_cache_stats(const struct unwind_cache *c);
