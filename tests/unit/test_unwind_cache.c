/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "elf/elffile.h"
#include "unwind/unwind_cache.h"

#include <errno.h>

/* Opens this very program whatever the key, except 403 and 404, and counts. */
static int open_self(void *data, uint64_t key, struct unwind_rules *rules,
		     struct unwind_table **ret)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	unsigned int *opened = data;

	++*opened;
	if (key == 403)
		return -ENODATA;
	if (key == 404)
		return -ENOENT;
	if (key == 429)
		return -EDQUOT;
	CHECK_EQ(elffile_open("/proc/self/exe", &ef, NULL), 0);
	return ef ? unwind_table_build(ef, rules, ret, NULL) : -ENODATA;
}

static size_t bytes_of_one(void)
{
	_cleanup_(unwind_cache_freep) struct unwind_cache *c = unwind_cache_new(SIZE_MAX);
	const struct unwind_table *table = NULL;
	unsigned int opened = 0;

	CHECK_EQ(unwind_cache_find(c, 1, open_self, &opened, &table), CHAIN_GOES_ON);
	return table ? unwind_table_bytes(table) : 1;
}

/* The same, with a thousand rules of its own for each key. */
static int open_with_rules(void *data, uint64_t key, struct unwind_rules *rules,
			   struct unwind_table **ret)
{
	struct unwind_rule rule = { .cfa = UNWIND_CFA_REG };
	int r = open_self(data, key, rules, ret);
	int32_t i;

	unwind_rules_begin(rules);
	for (i = 0; i < 1000; i++) {
		rule.cfa_offset = 1 << 30 | (int32_t)key << 10 | i;
		(*ret)->rows[0].rule = unwind_rules_add(rules, &rule);
	}
	return r;
}

static void rules_of_old_tables_make_way(void)
{
	_cleanup_(unwind_cache_freep) struct unwind_cache *c = unwind_cache_new(SIZE_MAX);
	const struct unwind_table *table = NULL;
	unsigned int opened = 0;
	uint64_t key;

	for (key = 1; key <= 200; key++) {
		CHECK_EQ(unwind_cache_find(c, key, open_with_rules, &opened, &table),
			 CHAIN_GOES_ON);
		unwind_cache_round(c);
	}
	CHECK_EQ(unwind_cache_stats(c)->counters.unwind_partial, 0);
	CHECK(unwind_cache_stats(c)->counters.unwind_evicted > 0);
	CHECK(unwind_cache_stats(c)->tables < 70);
}

static void a_table_is_built_once(void)
{
	_cleanup_(unwind_cache_freep) struct unwind_cache *c = unwind_cache_new(SIZE_MAX);
	const struct unwind_table *first = NULL, *again = NULL;
	unsigned int opened = 0;

	CHECK_EQ(unwind_cache_find(c, 7, open_self, &opened, &first), CHAIN_GOES_ON);
	CHECK_EQ(unwind_cache_find(c, 7, open_self, &opened, &again), CHAIN_GOES_ON);
	CHECK(first == again);
	CHECK_EQ(opened, 1);
	CHECK_EQ(unwind_cache_stats(c)->tables, 1);
	CHECK_EQ(unwind_cache_stats(c)->bytes, unwind_table_bytes(first));
}

static void what_cannot_be_opened_is_tried_again_later(void)
{
	_cleanup_(unwind_cache_freep) struct unwind_cache *c = unwind_cache_new(SIZE_MAX);
	const struct unwind_table *table = NULL;
	unsigned int opened = 0, i;

	for (i = 0; i < 10; i++)
		CHECK_EQ(unwind_cache_find(c, 404, open_self, &opened, &table), CHAIN_END_NO_TABLE);
	CHECK_EQ(opened, 1);
	for (i = 0; i < 100; i++)
		unwind_cache_round(c);
	CHECK_EQ(unwind_cache_find(c, 404, open_self, &opened, &table), CHAIN_END_NO_TABLE);
	CHECK_EQ(opened, 2);
	CHECK(!table);
}

static void the_one_unused_for_longest_goes(void)
{
	size_t one = bytes_of_one();
	_cleanup_(unwind_cache_freep) struct unwind_cache *c = unwind_cache_new(2 * one + one / 2);
	const struct unwind_table *table;
	unsigned int opened = 0;

	(void)unwind_cache_find(c, 1, open_self, &opened, &table);
	(void)unwind_cache_find(c, 2, open_self, &opened, &table);
	(void)unwind_cache_find(c, 1, open_self, &opened, &table);
	unwind_cache_round(c);
	unwind_cache_round(c);
	CHECK_EQ(unwind_cache_find(c, 3, open_self, &opened, &table), CHAIN_GOES_ON);
	CHECK_EQ(unwind_cache_stats(c)->counters.unwind_evicted, 1);
	CHECK_EQ(unwind_cache_find(c, 1, open_self, &opened, &table), CHAIN_GOES_ON);
	CHECK_EQ(opened, 3);
	CHECK_EQ(unwind_cache_stats(c)->bytes, 2 * one);
	/* The one that went comes back when there is room again. */
	unwind_cache_round(c);
	unwind_cache_round(c);
	CHECK_EQ(unwind_cache_find(c, 2, open_self, &opened, &table), CHAIN_GOES_ON);
	CHECK_EQ(opened, 4);
}

static void tables_in_use_stay_and_the_new_one_is_left_out(void)
{
	size_t one = bytes_of_one();
	_cleanup_(unwind_cache_freep) struct unwind_cache *c = unwind_cache_new(one);
	const struct unwind_table *table = NULL;
	unsigned int opened = 0, i;

	(void)unwind_cache_find(c, 1, open_self, &opened, &table);
	for (i = 0; i < 10; i++) {
		CHECK_EQ(unwind_cache_find(c, 2, open_self, &opened, &table), CHAIN_END_NO_BUDGET);
		CHECK_EQ(unwind_cache_find(c, 1, open_self, &opened, &table), CHAIN_GOES_ON);
	}
	CHECK_EQ(opened, 2);
	CHECK_EQ(unwind_cache_stats(c)->counters.unwind_refused, 1);
	CHECK_EQ(unwind_cache_stats(c)->bytes_max, one);
}

static void each_attempt_is_counted(void)
{
	_cleanup_(unwind_cache_freep) struct unwind_cache *c = unwind_cache_new(SIZE_MAX);
	const struct unwind_counters *counters = &unwind_cache_stats(c)->counters;
	const struct unwind_table *table = NULL;
	unsigned int opened = 0;

	(void)unwind_cache_find(c, 1, open_self, &opened, &table);
	CHECK_EQ(counters->unwind_built, 1);
	CHECK(counters->unwind_build_ns > 0);
	CHECK_EQ(counters->unwind_none + counters->unwind_unopened, 0);
	(void)unwind_cache_find(c, 403, open_self, &opened, &table);
	CHECK_EQ(counters->unwind_none, 1);
	(void)unwind_cache_find(c, 404, open_self, &opened, &table);
	CHECK_EQ(counters->unwind_unopened, 1);
	(void)unwind_cache_find(c, 429, open_self, &opened, &table);
	CHECK_EQ(counters->unwind_put_off, 1);
	CHECK_EQ(counters->unwind_unopened, 1);
	CHECK_EQ(counters->unwind_built, 1);
	CHECK_EQ(counters->unwind_none, 1);
}

TESTS(T(rules_of_old_tables_make_way), T(a_table_is_built_once),
      T(what_cannot_be_opened_is_tried_again_later), T(the_one_unused_for_longest_goes),
      T(tables_in_use_stay_and_the_new_one_is_left_out), T(each_attempt_is_counted))
