/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_union.h"

#include "base/macro.h"
#include "base/mem.h"
#include "chains/chain_read.h"
#include "chains/internal/chain_joint.h"
#include "chains/internal/chain_reader.h"

#include <stdlib.h>
#include <string.h>

/* A union with so many nodes gets no other tree. */
enum { FULL = 1 << 20 };

/* Forgets the tree that is borrowed, if one is. */
static void forget_alone(struct chain_union *u)
{
	if (u->is_alone)
		chain_reader_forget_tree(u->reader, u->next - 1);
	u->is_alone = false;
	free(STEAL(u->own_places));
}

static void forget(struct chain_union *u)
{
	forget_alone(u);
	chain_joint_free(STEAL(u->joint));
	u->count = u->place_count = 0;
	u->sampled_count = 0;
}

void chain_union_done(struct chain_union *u)
{
	forget(u);
	free(STEAL(u->sampled));
}

/* --- one tree --- */

/* The places of a tree; caller frees. */
static struct segment_node *read_places(const struct chain_union *u, size_t number,
					const struct chain_reader_tree *t)
{
	struct segment_node *places = xcalloc((size_t)t->places + 1, sizeof(*places));
	uint32_t i;

	for (i = 1; i <= t->places; i++)
		places[i] = chain_joint_place(u->reader, number, i);
	return places;
}

/* Makes a union of a tree alone, which stays in memory until the next one. */
static void borrow_tree(struct chain_union *u, size_t number, const struct chain_reader_tree *t)
{
	uint32_t i;

	u->is_alone = true;
	u->own_places = read_places(u, number, t);
	u->places = u->own_places;
	u->place_count = t->places;
	u->count = t->nodes;
	u->parents = t->parents;
	u->place_of = t->place_of;
	u->counts = t->counts;
	array_grow(&u->sampled, t->nodes, &u->sampled_room);
	for (i = 1; i <= t->nodes; i++)
		if (t->counts[i] && t->parents[i])
			u->sampled[u->sampled_count++] = i;
	for (i = 1; u->numbers && i <= t->nodes; i++)
		u->numbers[t->before + i] = i;
}

/* --- several trees --- */

/* Adds the counts of a tree, whose nodes have the numbers @numbers in the union. */
static void add_counts(struct chain_union *u, const struct chain_reader_tree *t,
		       const uint32_t *numbers)
{
	uint64_t *counts = u->joint->counts;
	uint32_t i;

	array_grow(&u->sampled, u->sampled_count + t->nodes, &u->sampled_room);
	for (i = 1; i <= t->nodes; i++) {
		const uint32_t node = numbers[i];

		if (!t->counts[i])
			continue;
		if (!counts[node] && t->parents[i])
			u->sampled[u->sampled_count++] = node;
		if (__builtin_add_overflow(counts[node], t->counts[i], &counts[node]))
			counts[node] = UINT64_MAX;
	}
	if (u->numbers && t->nodes)
		memcpy(u->numbers + t->before + 1, numbers + 1, t->nodes * sizeof(*numbers));
}

static void merge_tree(struct chain_union *u, size_t number, const struct chain_reader_tree *t)
{
	_cleanup_free_ uint32_t *numbers = xcalloc_whole((size_t)t->nodes + 1, sizeof(*numbers));

	chain_joint_add(u->joint, u->reader, number, t, numbers);
	add_counts(u, t, numbers);
	chain_reader_forget_tree(u->reader, number);
}

static void end_merge(struct chain_union *u)
{
	struct chain_joint *j = u->joint;

	chain_joint_end(j);
	u->count = j->count;
	u->parents = j->parents;
	u->place_of = j->place_of;
	u->counts = j->counts;
	u->places = j->places.list;
	u->place_count = j->places.count;
}

/* --- unions --- */

/* Whether a tree, which is the next one, is a union of its own. */
static bool is_alone(const struct chain_union *u)
{
	return u->next + 1 == chain_reader_trees(u->reader) ||
	       chain_reader_size(u->reader, u->next).nodes >= FULL;
}

bool chain_union_next(struct chain_union *u)
{
	const size_t trees = chain_reader_trees(u->reader);
	bool alone;

	forget(u);
	if (u->next == trees)
		return false;
	alone = is_alone(u);
	if (!alone)
		u->joint = chain_joint_new();
	u->begin = u->end;
	do {
		const struct chain_reader_tree t = chain_reader_tree(u->reader, u->next);

		(alone ? borrow_tree : merge_tree)(u, u->next++, &t);
		u->end = t.before + t.nodes + 1;
	} while (!alone && u->next < trees && u->joint->count < FULL &&
		 chain_reader_size(u->reader, u->next).nodes < FULL);
	if (!alone)
		end_merge(u);
	return true;
}

/* --- what it has --- */

uint32_t chain_union_context(const struct chain_union *u, uint32_t root)
{
	return u->is_alone ? chain_reader_context(u->reader, u->next - 1, u->place_of[root])
			   : u->place_of[root];
}

struct chain_frame chain_union_frame(const struct chain_union *u, uint32_t place,
				     bool *ret_is_function)
{
	const struct segment_node *n = &u->places[place];

	*ret_is_function = segment_is_function(n->key);
	return (struct chain_frame){ n->line,
				     *ret_is_function ? n->key & ~SEGMENT_FUNCTION : n->key };
}

bool chain_union_chain(struct chain_union *u, uint32_t node, struct chain *ret)
{
	struct chain_frame *frames = u->reader->frames;
	bool is_function, is_other;
	size_t count = 0;
	uint32_t i;

	(void)chain_union_frame(u, u->place_of[node], &is_function);
	for (i = node; u->parents[i]; i = u->parents[i]) {
		if (count == CHAIN_FRAMES_MAX)
			return false;
		frames[count++] = chain_union_frame(u, u->place_of[i], &is_other);
	}
	*ret = (struct chain){ .frames = frames,
			       .count = count,
			       .samples = u->counts[node],
			       .is_function = is_function };
	return true;
}
