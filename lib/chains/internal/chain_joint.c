/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/internal/chain_joint.h"

#include "base/hash.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/radix.h"
#include "chains/chain_read.h"

#include <stdlib.h>
#include <string.h>

/* Children are looked for in a table if their list is longer. */
enum { SLOTS_MIN = 1 << 10, CHILDREN_LISTED = 16 };

struct chain_joint *chain_joint_new(void)
{
	struct chain_joint *j = xcalloc(1, sizeof(*j));
	struct chain_joint_places *p = &j->places;

	p->mask = SLOTS_MIN - 1;
	array_grow(&j->links, 1, &j->link_room);
	j->links[0] = (struct chain_joint_link){ 0 };
	p->slots = xcalloc(SLOTS_MIN, sizeof(*p->slots));
	array_grow(&p->list, 1, &p->room);
	array_grow(&p->next, 1, &p->next_room);
	p->list[0] = (struct segment_node){ 0 };
	p->next[0] = 0;
	return j;
}

static void forget_places(struct chain_joint_places *p)
{
	free(STEAL(p->next));
	free(STEAL(p->slots));
}

void chain_joint_free(struct chain_joint *j)
{
	if (!j)
		return;
	free(j->parents);
	free(j->place_of);
	free(j->counts);
	free(j->links);
	map_done(&j->many);
	free(j->places.list);
	forget_places(&j->places);
	free(j);
}

/* --- places --- */

struct segment_node chain_joint_place(const struct chain_reader *r, size_t number, uint32_t place)
{
	struct chain_frame frame;
	bool is_function;

	if (!chain_reader_frame(r, number, place, &frame, &is_function))
		return (struct segment_node){ 0 };
	return (struct segment_node){ .key = frame.offset | (is_function ? SEGMENT_FUNCTION : 0),
				      .line = frame.image };
}

static uint64_t hash_of_place(const struct segment_node *n)
{
	return hash_u64(n->key ^ n->line * 0x9e3779b97f4a7c15ULL);
}

static bool is_place(const struct segment_node *a, const struct segment_node *b)
{
	return a->key == b->key && a->line == b->line;
}

/* Enters all places into a table of twice the size. */
static void grow_place_slots(struct chain_joint_places *p)
{
	size_t i, k;

	p->mask = p->mask * 2 + 1;
	free(p->slots);
	p->slots = xcalloc(p->mask + 1, sizeof(*p->slots));
	for (i = 1; i <= p->count; i++) {
		for (k = hash_of_place(&p->list[i]) & p->mask; p->slots[k]; k = (k + 1) & p->mask)
			;
		p->slots[k] = (uint32_t)i;
	}
}

static uint32_t add_place(struct chain_joint_places *p, const struct segment_node *place)
{
	array_grow(&p->list, (size_t)p->count + 2, &p->room);
	array_grow(&p->next, (size_t)p->count + 2, &p->next_room);
	p->list[++p->count] = *place;
	p->next[p->count] = 0;
	return p->count;
}

static uint32_t find_place(struct chain_joint_places *p, const struct segment_node *place)
{
	size_t i;

	if (p->count >= p->mask / 2)
		grow_place_slots(p);
	for (i = hash_of_place(place) & p->mask; p->slots[i]; i = (i + 1) & p->mask)
		if (is_place(&p->list[p->slots[i]], place))
			return p->slots[i];
	return p->slots[i] = add_place(p, place);
}

/* Which places the frames of a tree have; caller frees. */
static bool *used_places(const struct chain_reader_tree *t)
{
	bool *used = xcalloc((size_t)t->places + 1, sizeof(*used));
	uint32_t i;

	for (i = 1; i <= t->nodes; i++)
		if (t->parents[i])
			used[t->place_of[i]] = true;
	return used;
}

/* The numbers of the places of a tree, 0 if they are invalid; caller frees. They mostly follow each
 * other as they did before. */
static uint32_t *find_places(struct chain_joint_places *p, const struct chain_reader *r,
			     size_t number, const struct chain_reader_tree *t)
{
	_cleanup_free_ bool *used = used_places(t);
	uint32_t *ret = xcalloc((size_t)t->places + 1, sizeof(*ret)), last = 0, i;

	for (i = 1; i <= t->places; i++) {
		const struct segment_node place =
			used[i] ? chain_joint_place(r, number, i) : (struct segment_node){ 0 };

		if (!place.line)
			continue;
		ret[i] = p->next[last];
		if (!ret[i] || !is_place(&p->list[ret[i]], &place)) {
			ret[i] = find_place(p, &place);
			p->next[last] = ret[i];
		}
		last = ret[i];
	}
	return ret;
}

/* --- nodes --- */

static uint64_t key_below(uint32_t parent, uint32_t place)
{
	return (uint64_t)parent << 32 | place;
}

static void enter(struct chain_joint *j, uint32_t node)
{
	(void)map_set(&j->many, key_below(j->parents[node], j->place_of[node]),
		      (void *)(uintptr_t)node);
}

/* Looks in the table, where all children of the parent are from then on. */
static uint32_t find_among_many(struct chain_joint *j, uint32_t parent, uint32_t place)
{
	uint32_t i;

	for (i = j->links[parent].child; i && !j->links[parent].is_many; i = j->links[i].sibling)
		enter(j, i);
	j->links[parent].is_many = true;
	return (uint32_t)(uintptr_t)map_get(&j->many, key_below(parent, place));
}

/* Finds a child, which probably is the one after @last; 0: there is none. */
static uint32_t find_child(struct chain_joint *j, uint32_t parent, uint32_t last, uint32_t place)
{
	const uint32_t from = last ? j->links[last].sibling : j->links[parent].child;
	unsigned int left = j->links[parent].is_many ? 1 : CHILDREN_LISTED;
	uint32_t i;

	for (i = from; i && left > 0; i = j->links[i].sibling, left--)
		if (j->place_of[i] == place)
			return i;
	for (i = j->links[parent].child; i != from && left > 0; i = j->links[i].sibling, left--)
		if (j->place_of[i] == place)
			return i;
	return left ? 0 : find_among_many(j, parent, place);
}

/* Adds a child after its sibling @last, or as the first. There is room for it. */
static uint32_t add_child(struct chain_joint *j, uint32_t parent, uint32_t last, uint32_t place)
{
	const uint32_t node = ++j->count;
	struct chain_joint_link *links = j->links;

	j->parents[node] = parent;
	j->place_of[node] = place;
	j->counts[node] = 0;
	links[node] = (struct chain_joint_link){ .sibling = last ? links[last].sibling
								 : links[parent].child };
	if (last)
		links[last].sibling = node;
	else
		links[parent].child = node;
	if (links[parent].is_many)
		enter(j, node);
	return node;
}

static void make_room(struct chain_joint *j, size_t more)
{
	const size_t need = j->count + more + 1;

	array_grow(&j->parents, need, &j->room);
	array_grow(&j->place_of, need, &j->place_room);
	array_grow(&j->counts, need, &j->count_room);
	array_grow(&j->links, need, &j->link_room);
}

void chain_joint_add(struct chain_joint *j, const struct chain_reader *r, size_t number,
		     const struct chain_reader_tree *t, uint32_t *numbers)
{
	_cleanup_free_ uint32_t *places = find_places(&j->places, r, number, t);
	/* By node of the tree: the number of the child that was added last. */
	_cleanup_free_ uint32_t *latest = xcalloc((size_t)t->nodes + 1, sizeof(*latest));
	const uint32_t before = j->count; /* what is new has no children to find */
	uint32_t i;

	make_room(j, t->nodes);
	numbers[0] = 0;
	for (i = 1; i <= t->nodes; i++) {
		const uint32_t above = t->parents[i], parent = numbers[above];
		const uint32_t place = above ? places[t->place_of[i]]
					     : chain_reader_context(r, number, t->place_of[i]);
		uint32_t node = parent > before ? 0 : find_child(j, parent, latest[above], place);

		if (!node)
			node = add_child(j, parent, latest[above], place);
		numbers[i] = latest[above] = node;
	}
}

/* --- the end --- */

/* Lists the places of nodes by line, then key; returns how many. */
static size_t sort_places(const struct chain_joint *j, struct radix_entry *entries)
{
	const struct chain_joint_places *p = &j->places;
	size_t i;

	for (i = 0; i < p->count; i++)
		entries[i] = (struct radix_entry){ p->list[i + 1].key, i + 1 };
	radix_sort(entries, entries + p->count, p->count);
	for (i = 0; i < p->count; i++)
		entries[i].key = p->list[entries[i].value].line;
	radix_sort(entries, entries + p->count, p->count);
	return p->count;
}

void chain_joint_end(struct chain_joint *j)
{
	struct chain_joint_places *p = &j->places;
	_cleanup_free_ struct radix_entry *entries =
		xcalloc(2 * (size_t)p->count + 1, sizeof(*entries));
	_cleanup_free_ uint32_t *numbers = xcalloc((size_t)p->count + 1, sizeof(*numbers));
	struct segment_node *list = xcalloc((size_t)p->count + 1, sizeof(*list));
	const size_t count = sort_places(j, entries);
	size_t i;

	free(STEAL(j->links));
	map_done(&j->many);
	forget_places(p);
	for (i = 1; i <= count; i++) {
		const uint32_t was = (uint32_t)entries[i - 1].value;

		numbers[was] = (uint32_t)i;
		list[i] = p->list[was];
	}
	free(p->list);
	p->list = list;
	for (i = 1; i <= j->count; i++)
		if (j->parents[i])
			j->place_of[i] = numbers[j->place_of[i]];
}
