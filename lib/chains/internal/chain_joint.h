/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several trees of chains as one, while it is made (chain_union.h). Trees of different times have
 * most of their nodes in common, in about the same order. So the children of a node are a list, in
 * which the next one is mostly next; only those of many siblings are looked up in a table. The
 * struct owns its memory.
 *
 *	struct chain_joint *j = chain_joint_new();
 *	chain_joint_add(j, reader, 0, &tree, numbers);
 *	chain_joint_end(j);
 *	chain_joint_free(j);
 */
#pragma once

#include "base/map.h"
#include "history/segment_tree.h"

#include <stddef.h>
#include <stdint.h>

struct chain_reader;
struct chain_reader_tree;

/* The list of the children of a node; 0 ends it. */
struct chain_joint_link {
	uint32_t child : 31;
	uint32_t is_many : 1; /* all its children are in ->many, too */
	uint32_t sibling;
};

/* Places of nodes, without parents, each once. Place 0 is none. */
struct chain_joint_places {
	struct segment_node *list;
	uint32_t *next; /* by place: which one followed it last; a guess */
	uint32_t count;
	size_t room, next_room;
	uint32_t *slots; /* numbers by hash; 0: free */
	size_t mask;
};

struct chain_joint {
	uint32_t count; /* nodes, from 1 on */
	size_t room, place_room, count_room, link_room;
	uint32_t *parents;  /* by node; 0: a root */
	uint32_t *place_of; /* the same: its place; of a root, its context; 0: invalid */
	uint64_t *counts;
	struct chain_joint_link *links;
	struct map many; /* by parent and place: nodes that have many siblings */
	struct chain_joint_places places;
};

/* A place of tree number @number of the reader; without a line, if it is invalid. */
struct segment_node chain_joint_place(const struct chain_reader *r, size_t number, uint32_t place);
/* Makes one without trees; caller frees. */
struct chain_joint *chain_joint_new(void);
/* Adds tree number @number of the reader, which is @t. Sets in @numbers[], which has room for its
 * nodes and node 0, the number that each one has now. */
void chain_joint_add(struct chain_joint *j, const struct chain_reader *r, size_t number,
		     const struct chain_reader_tree *t, uint32_t *numbers);
/* Ends adding: numbers the places by line, then key, and frees what is not needed any more. */
void chain_joint_end(struct chain_joint *j);
/* NULL is allowed. */
void chain_joint_free(struct chain_joint *j);
