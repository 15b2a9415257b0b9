/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trees of a history of call chains as one. */
#include "chain_past.h"

#include "base/hash.h"
#include "base/map.h"
#include "chains/chain_union.h"

static uint64_t hash_of(uint32_t context, const struct chain *chain)
{
	uint64_t hash = hash_add(context, chain->is_function);
	size_t i;

	for (i = 0; i < chain->count; i++)
		hash = hash_add(hash_add(hash, chain->frames[i].image), chain->frames[i].offset);
	return hash;
}

/* Samples of chains that differ, by hash. */
struct found {
	struct map sums;
	uint64_t all;
	size_t different;
};

static int find_chain(uint32_t context, const struct chain *chain, void *data)
{
	struct found *f = data;
	const uint64_t hash = hash_of(context, chain);
	const uintptr_t known = (uintptr_t)map_get(&f->sums, hash);

	f->all += chain->samples;
	f->different += !known;
	(void)map_set(&f->sums, hash, (void *)(known + chain->samples));
	return 0;
}

static uint32_t context_of(const struct chain_union *u, uint32_t node)
{
	while (u->parents[node])
		node = u->parents[node];
	return chain_union_context(u, node);
}

/* Checks the nodes of a union against those of the reader that are in it. */
static void check_numbers(struct chain_reader *r, struct chain_union *u)
{
	uint32_t i, context;

	for (i = 0; i < chain_reader_trees(r); i++)
		(void)chain_reader_tree(r, i);
	for (i = u->begin; i < u->end; i++) {
		struct chain one, whole;
		uint64_t hash;

		if (i == 0 || !chain_reader_chain(r, i, &context, &one))
			continue;
		hash = hash_of(context, &one);
		CHECK(chain_union_chain(u, u->numbers[i], &whole));
		CHECK_EQ(hash_of(context_of(u, u->numbers[i]), &whole), hash);
	}
}

/* All nodes but roots have valid places, and those with equal frames have the same one. */
static void check_places(const struct chain_union *u)
{
	struct map found = MAP_INIT;
	uint32_t i;

	for (i = 1; i <= u->count; i++) {
		const uint32_t place = u->place_of[i];
		const struct segment_node *n = &u->places[place];
		uintptr_t known;

		CHECK(u->parents[i] < i);
		if (!u->parents[i]) {
			CHECK(chain_union_context(u, i));
			continue;
		}
		CHECK(place <= u->place_count && n->line);
		known = (uintptr_t)map_set(&found, hash_add(n->key, n->line),
					   (void *)(uintptr_t)place);
		CHECK(!known || known == place);
	}
	map_done(&found);
}

/* Each chain of a window is in its union once, with the samples of all trees. */
static void check_union(const struct past *p, int64_t begin_ms, int64_t end_ms, bool several)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	_cleanup_free_ uint32_t *numbers = NULL;
	struct found found = { .sums = MAP_INIT }, once = { .sums = MAP_INIT };
	struct chain_union u = { 0 };
	size_t i;

	CHECK_EQ(chain_reader_open(p->dir, &(struct window){ begin_ms, end_ms }, &r, NULL), 0);
	CHECK_EQ(chain_reader_trees(r) > 1, several);
	(void)chain_reader_each(r, find_chain, &found);
	numbers = xcalloc(chain_reader_nodes(r), sizeof(*numbers));
	u.reader = r;
	u.numbers = numbers;
	CHECK(chain_union_next(&u));
	check_places(&u);
	check_numbers(r, &u);
	for (i = 0; i < u.sampled_count; i++) {
		const uint32_t node = u.sampled[i], context = context_of(&u, node);
		struct chain chain;
		uint64_t hash;

		CHECK(chain_union_chain(&u, node, &chain));
		hash = hash_of(context, &chain);
		CHECK_EQ(chain.samples, (uintptr_t)map_get(&found.sums, hash));
		CHECK(!map_get(&once.sums, hash));
		(void)find_chain(context, &chain, &once);
	}
	CHECK_EQ(once.different, found.different);
	CHECK_EQ(once.all, found.all);
	CHECK(once.all > 0);
	CHECK(!chain_union_next(&u));
	chain_union_done(&u);
	map_done(&found.sums);
	map_done(&once.sums);
}

static void days_and_hours_are_one_tree(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 24 * 3 + 2; hour++) {
		write_hour(&p, 15 * MINUTE);
		(void)upkeep(&p, 0, 0);
	}
	check_union(&p, BEGIN_MS, p.now_ms, true);
	check_union(&p, BEGIN_MS + 20 * HOUR, BEGIN_MS + 50 * HOUR, true);
}

static void a_tree_alone_stays_what_it_is(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };

	write_hour(&p, MINUTE);
	check_union(&p, BEGIN_MS, p.now_ms, false);
	write_hour(&p, MINUTE);
	(void)upkeep(&p, 0, 0);
	check_union(&p, BEGIN_MS, BEGIN_MS + HOUR, false);
}

/* Rare offsets of a function are one frame, which is not its first instruction. */
static void functions_stay_what_they_are(void)
{
	static const struct history_functions functions = { open_functions, close_functions };
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS, .functions = &functions };
	unsigned int hour;

	for (hour = 0; hour < 2; hour++) {
		write_rare(&p, 150);
		(void)upkeep(&p, 0, 0);
	}
	p.now_ms += 3 * HOUR;
	(void)upkeep(&p, 0, 0);
	CHECK_EQ(read_chains(dir, &WINDOW_ALL, NULL).of_functions, 300);
	check_union(&p, INT64_MIN, INT64_MAX, true);
}

TESTS(T(days_and_hours_are_one_tree), T(a_tree_alone_stays_what_it_is),
      T(functions_stay_what_they_are))
