/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_union.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/radix.h"
#include "chains/chain_read.h"
#include "chains/internal/chain_reader.h"

#include <stdlib.h>
#include <string.h>

/* A union with so many nodes gets no other tree. */
enum { FULL = 1 << 20 };

static void forget(struct chain_union *u)
{
	segment_tree_done(&u->tree);
	free(STEAL(u->counts));
	free(STEAL(u->place_of));
	free(STEAL(u->places));
	u->place_count = 0;
	u->sampled_count = 0;
}

void chain_union_done(struct chain_union *u)
{
	forget(u);
	free(STEAL(u->sampled));
}

/* --- nodes --- */

/* The places of a tree; caller frees. */
static struct segment_node *read_places(const struct chain_union *u, size_t number,
					const struct chain_reader_tree *t)
{
	struct segment_node *places = xcalloc((size_t)t->places + 1, sizeof(*places));
	struct chain_frame frame;
	bool is_function;
	uint32_t i;

	for (i = 1; i <= t->places; i++)
		if (chain_reader_frame(u->reader, number, i, &frame, &is_function))
			places[i] =
				(struct segment_node){ .key = frame.offset |
							      (is_function ? SEGMENT_FUNCTION : 0),
						       .line = frame.image };
	return places;
}

/* A node of a tree, with the numbers of its tree. */
static struct segment_node node_at(const struct chain_union *u, size_t number,
				   const struct chain_reader_tree *t,
				   const struct segment_node *places, uint32_t i)
{
	const uint32_t parent = t->parents[i], place = t->place_of[i];

	if (!parent)
		return (struct segment_node){ .line = chain_reader_context(u->reader, number,
									   place) };
	return (struct segment_node){ places[place].key, parent, places[place].line };
}

/* Adds the counts of a tree, whose nodes have the numbers @numbers in the union. */
static void add_counts(struct chain_union *u, const struct chain_reader_tree *t,
		       const uint32_t *numbers)
{
	uint32_t i;

	array_grow(&u->sampled, u->sampled_count + t->nodes, &u->sampled_room);
	for (i = 1; i <= t->nodes; i++) {
		const uint32_t node = numbers[i];

		if (!t->counts[i])
			continue;
		if (!u->tree.counts[node] && t->parents[i])
			u->sampled[u->sampled_count++] = node;
		segment_tree_count(&u->tree, node, t->counts[i]);
	}
	if (u->numbers && t->nodes)
		memcpy(u->numbers + t->before + 1, numbers + 1, t->nodes * sizeof(*numbers));
}

/* --- one tree --- */

/* Makes a union of a tree alone: nothing in it is to be found again. */
static void take_tree(struct chain_union *u, size_t number, const struct chain_reader_tree *t)
{
	_cleanup_free_ uint32_t *numbers = xcalloc_whole((size_t)t->nodes + 1, sizeof(*numbers));
	uint32_t i;

	u->places = read_places(u, number, t);
	u->place_count = t->places;
	u->place_of = xcalloc_whole((size_t)t->nodes + 1, sizeof(*u->place_of));
	for (i = 1; i <= t->nodes; i++) {
		const struct segment_node n = node_at(u, number, t, u->places, i);

		numbers[i] = segment_tree_append(&u->tree, n.parent, n.line, n.key);
		u->place_of[i] = n.parent && n.line ? t->place_of[i] : 0;
	}
	add_counts(u, t, numbers);
}

/* --- several trees --- */

static void merge_tree(struct chain_union *u, size_t number, const struct chain_reader_tree *t)
{
	_cleanup_free_ struct segment_node *places = read_places(u, number, t);
	_cleanup_free_ struct segment_node *nodes =
		xcalloc_whole((size_t)t->nodes + 1, sizeof(*nodes));
	_cleanup_free_ uint32_t *numbers = xcalloc_whole((size_t)t->nodes + 1, sizeof(*numbers));
	uint32_t i;

	for (i = 1; i <= t->nodes; i++)
		nodes[i] = node_at(u, number, t, places, i);
	segment_tree_merge(&u->tree, nodes, t->nodes, NULL, numbers);
	add_counts(u, t, numbers);
}

/* Lists the valid frames by line, then key; returns how many. */
static size_t list_frames(const struct chain_union *u, struct radix_entry *entries)
{
	const struct segment_node *nodes = u->tree.nodes;
	size_t count = 0, i;

	for (i = 1; i <= u->tree.count; i++)
		if (nodes[i].parent && nodes[i].line)
			entries[count++] = (struct radix_entry){ nodes[i].key, i };
	radix_sort(entries, entries + u->tree.count, count);
	for (i = 0; i < count; i++)
		entries[i].key = nodes[entries[i].value].line;
	radix_sort(entries, entries + u->tree.count, count);
	return count;
}

/* Finds the places of nodes. */
static void find_places(struct chain_union *u)
{
	const struct segment_node *nodes = u->tree.nodes;
	_cleanup_free_ struct radix_entry *entries =
		xcalloc_whole(2 * u->tree.count + 1, sizeof(*entries));
	const size_t count = list_frames(u, entries);
	size_t room = 0, i;

	u->place_of = xcalloc_whole(u->tree.count + 1, sizeof(*u->place_of));
	array_grow(&u->places, 1, &room);
	u->places[0] = (struct segment_node){ 0 };
	for (i = 0; i < count; i++) {
		const struct segment_node *n = &nodes[entries[i].value];
		const struct segment_node *last = &u->places[u->place_count];

		if (last->line != n->line || last->key != n->key) {
			array_grow(&u->places, (size_t)u->place_count + 2, &room);
			u->places[++u->place_count] =
				(struct segment_node){ .key = n->key, .line = n->line };
		}
		u->place_of[entries[i].value] = u->place_count;
	}
}

/* Whether a tree, which is the next one, is a union of its own. */
static bool is_alone(const struct chain_union *u)
{
	return u->next + 1 == chain_reader_trees(u->reader) ||
	       chain_reader_size(u->reader, u->next).nodes >= FULL;
}

bool chain_union_next(struct chain_union *u)
{
	const size_t trees = chain_reader_trees(u->reader), first = u->next;
	bool alone;

	forget(u);
	if (first == trees)
		return false;
	alone = is_alone(u);
	segment_tree_init(&u->tree);
	u->begin = u->end;
	do {
		const struct chain_reader_tree t = chain_reader_tree(u->reader, u->next);

		(alone ? take_tree : merge_tree)(u, u->next, &t);
		u->end = t.before + t.nodes + 1;
		chain_reader_forget_tree(u->reader, u->next++);
	} while (!alone && u->next < trees && u->tree.count < FULL &&
		 chain_reader_size(u->reader, u->next).nodes < FULL);
	u->counts = STEAL(u->tree.counts);
	segment_tree_end(&u->tree);
	if (!alone)
		find_places(u);
	return true;
}

/* --- what it has --- */

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
	for (i = node; u->tree.nodes[i].parent; i = u->tree.nodes[i].parent) {
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
