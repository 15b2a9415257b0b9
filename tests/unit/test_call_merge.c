/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/profile/rows/internal/call_merge.c */
#include "test.h"

#include "profile/rows/internal/call_merge.h"

#include <string.h>

/* Whether two trees have the same nodes below two of theirs, whatever their numbers and order. */
static bool same_below(struct call_tree *a, uint32_t x, struct call_tree *b, uint32_t y)
{
	uint32_t i, n = 0, k, had = (uint32_t)b->count;

	if (a->nodes[x].what != b->nodes[y].what || a->nodes[x].self != b->nodes[y].self)
		return false;
	for (i = a->nodes[x].child; i; i = a->nodes[i].sibling) {
		n++;
		if (a->nodes[i].parent != x ||
		    !same_below(a, i, b, call_tree_child(b, y, a->nodes[i].what)))
			return false;
	}
	for (k = b->nodes[y].child; k; k = b->nodes[k].sibling)
		n--;
	return !n && b->count == had;
}

static void nodes_that_are_the_same_become_one(void)
{
	struct call_tree t;
	struct call_merge m = { .tree = &t };
	uint32_t base, a, b, c, other;

	call_tree_init(&t, 0);
	base = call_tree_child(&t, 0, 100);
	a = call_merge_add(&m, call_merge_base(&m, base), 7);
	b = call_merge_add(&m, call_merge_base(&m, base), 8);
	c = call_merge_add(&m, call_merge_base(&m, base), 7);
	other = call_merge_add(&m, c, 8);
	call_merge_count(&m, a, 1);
	call_merge_count(&m, c, 2);
	call_merge_count(&m, call_merge_add(&m, a, 8), 4);
	call_merge_count(&m, other, 8);
	call_merge_count(&m, call_merge_base(&m, base), 16);
	call_merge_end(&m, 9);
	CHECK_EQ(t.count, 5);
	CHECK_EQ(call_merge_node(&m, a), call_merge_node(&m, c));
	CHECK(call_merge_node(&m, b) != call_merge_node(&m, other));
	CHECK_EQ(call_merge_node(&m, 0), 0);
	CHECK_EQ(t.nodes[call_merge_node(&m, a)].self, 3);
	CHECK_EQ(t.nodes[call_merge_node(&m, other)].self, 12);
	CHECK_EQ(t.nodes[base].self, 16);
	call_merge_done(&m);
	call_tree_done(&t);
}

/* A number below @limit; the same ones each time. */
static uint32_t draw(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((*state >> 33) % limit);
}

static void it_is_the_tree_that_looking_for_each_child_makes(void)
{
	enum { BASES = 3, NODES = 20000, WHATS = 40 };
	struct call_tree t, wanted;
	struct call_merge m = { .tree = &t };
	uint32_t nodes[NODES], same[NODES], i;
	uint64_t state = 1;

	call_tree_init(&t, 0);
	call_tree_init(&wanted, 0);
	for (i = 0; i < NODES; i++) {
		uint32_t of = draw(&state, i < 100 ? 1 : i), what = draw(&state, WHATS), base;

		if (of < BASES) { /* the last base is below the first one */
			base = call_tree_child(&t, of == 2 ? call_tree_child(&t, 0, 1000) : 0,
					       1000 + of);
			nodes[i] = call_merge_add(&m, call_merge_base(&m, base), what);
			base = call_tree_child(&wanted,
					       of == 2 ? call_tree_child(&wanted, 0, 1000) : 0,
					       1000 + of);
			same[i] = call_tree_child(&wanted, base, what);
		} else {
			nodes[i] = call_merge_add(&m, nodes[of], what);
			same[i] = call_tree_child(&wanted, same[of], what);
		}
		call_merge_count(&m, nodes[i], i);
		wanted.nodes[same[i]].self += i;
	}
	call_merge_end(&m, WHATS);
	CHECK_EQ(t.count, wanted.count);
	CHECK(same_below(&t, 0, &wanted, 0));
	for (i = 0; i < NODES; i++)
		CHECK_EQ(t.nodes[call_merge_node(&m, nodes[i])].self, wanted.nodes[same[i]].self);
	for (i = call_tree_next(&t, 0), state = 1; i; i = call_tree_next(&t, i))
		state++;
	CHECK_EQ(state, t.count);
	call_merge_done(&m);
	call_tree_done(&t);
	call_tree_done(&wanted);
}

static void chains_share_what_they_begin_with(void)
{
	static const uint32_t first[] = { 3, 2, 1 }, second[] = { 4, 2, 1 }, third[] = { 2, 1 };
	struct call_tree t;
	struct call_merge m = { .tree = &t };
	uint32_t base, other, ends[5];

	call_tree_init(&t, 0);
	base = call_merge_base(&m, call_tree_child(&t, 0, 100));
	other = call_merge_base(&m, call_tree_child(&t, 0, 101));
	ends[0] = call_merge_chain(&m, base, first, ARRAY_SIZE(first));
	ends[1] = call_merge_chain(&m, base, second, ARRAY_SIZE(second));
	ends[2] = call_merge_chain(&m, base, third, ARRAY_SIZE(third));
	CHECK_EQ(m.count, 2 + 4);
	ends[3] = call_merge_chain(&m, other, third, ARRAY_SIZE(third));
	ends[4] = call_merge_chain(&m, base, first, ARRAY_SIZE(first));
	call_merge_end(&m, 5);
	CHECK_EQ(t.count, 1 + 2 + 4 + 2);
	CHECK_EQ(call_merge_node(&m, ends[4]), call_merge_node(&m, ends[0]));
	CHECK_EQ(t.nodes[call_merge_node(&m, ends[1])].parent, call_merge_node(&m, ends[2]));
	CHECK_EQ(t.nodes[t.nodes[call_merge_node(&m, ends[3])].parent].what, 1);
	call_merge_done(&m);
	call_tree_done(&t);
}

/* Adds the chain @whats, the last one first, below @base in both trees. */
static void add_both(struct call_merge *m, struct call_tree *wanted, const uint32_t whats[3],
		     uint64_t samples)
{
	uint32_t base = call_merge_base(m, call_tree_child(m->tree, 0, 100));
	uint32_t at = call_tree_child(wanted, 0, 100), i;

	call_merge_count(m, call_merge_chain(m, base, whats, 3), samples);
	for (i = 3; i > 0; i--)
		at = call_tree_child(wanted, at, whats[i - 1]);
	wanted->nodes[at].self += samples;
}

static void merging_several_times_makes_the_same_tree(void)
{
	enum { CHAINS = 3000, WHATS = 12 };
	struct call_tree t, wanted;
	struct call_merge m = { .tree = &t };
	uint64_t state = 1;
	uint32_t i;

	call_tree_init(&t, 0);
	call_tree_init(&wanted, 0);
	for (i = 0; i < CHAINS; i++) {
		const uint32_t whats[3] = { draw(&state, WHATS), draw(&state, WHATS),
					    draw(&state, WHATS) };

		add_both(&m, &wanted, whats, i);
		if (i % 7 == 0)
			call_merge_end(&m, WHATS);
	}
	call_merge_end(&m, WHATS);
	CHECK_EQ(t.count, wanted.count);
	CHECK(same_below(&t, 0, &wanted, 0));
	call_merge_done(&m);
	call_tree_done(&t);
	call_tree_done(&wanted);
}

static void what_is_below_a_base_is_merged_however_often(void)
{
	struct call_tree t;
	struct call_merge m = { .tree = &t };
	uint32_t base, node, inner;

	call_tree_init(&t, 0);
	base = call_tree_child(&t, 0, 100);
	inner = call_tree_child(&t, base, 101);
	node = call_merge_add(&m, call_merge_base(&m, base), 3);
	call_merge_end(&m, 4);
	node = call_merge_node(&m, node);
	CHECK_EQ(t.nodes[node].parent, base);
	call_merge_count(&m, call_merge_add(&m, call_merge_base(&m, inner), 3), 1);
	call_merge_count(&m, call_merge_add(&m, call_merge_base(&m, base), 3), 2);
	call_merge_end(&m, 4);
	CHECK_EQ(t.count, 5);
	CHECK_EQ(t.nodes[node].self, 2);
	call_merge_end(&m, 4);
	CHECK_EQ(t.nodes[node].self, 2);
	CHECK(!call_merge_is_full(&m));
	call_merge_done(&m);
	call_tree_done(&t);
}

static void nothing_is_a_tree_as_well(void)
{
	struct call_tree t;
	struct call_merge m = { .tree = &t };

	call_tree_init(&t, 0);
	call_merge_end(&m, 0);
	CHECK_EQ(t.count, 1);
	call_merge_done(&m);
	call_tree_done(&t);
}

TESTS(T(chains_share_what_they_begin_with), T(merging_several_times_makes_the_same_tree),
      T(what_is_below_a_base_is_merged_however_often), T(nodes_that_are_the_same_become_one),
      T(it_is_the_tree_that_looking_for_each_child_makes), T(nothing_is_a_tree_as_well))
