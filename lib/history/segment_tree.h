/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree that the counts of a segment belong to, in memory: sample files and their keys, or
 * contexts and the places of call chains. A node has a name, a line as in N.names, and a key, which
 * is an offset in an image. The roots of a flat history are sample files, and their children the
 * keys with samples.
 *
 *	struct segment_tree t;
 *	segment_tree_init(&t);
 *	file = segment_tree_node(&t, 0, segment_tree_line(&t, line), 0);
 *	node = segment_tree_node(&t, file, t.nodes[file].line, offset);
 *	segment_tree_count(&t, node, 1);
 *	to = segment_tree_fold(&t, &folding);
 *	segment_tree_done(&t);
 */
#pragma once

#include "base/arena.h"
#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The key of what was folded into its parent. */
#define SEGMENT_RARE UINT64_MAX
/* With the offset of a function, the key of its samples whose own offsets were too rare. */
#define SEGMENT_FUNCTION (UINT64_C(1) << 62)

/* No tree of a segment has more nodes or lines. */
enum { SEGMENT_NODES_MAX = 1 << 24 };

struct segment_node {
	uint64_t key;
	uint32_t parent; /* a smaller number; 0: it is a root */
	uint32_t line;	 /* number of its name, from 1 on; 0: none */
};

struct segment_tree {
	struct segment_node *nodes; /* from 1 on */
	uint64_t *counts;	    /* of each node itself */
	size_t count, room, counts_room;
	const char **lines; /* from 1 on */
	size_t line_count, line_room;

	struct arena text;
	struct map by_line; /* hash to number */
	uint32_t *paths;    /* hash of each node and all above it */
	size_t paths_room;
	uint32_t *slots; /* numbers of nodes, by path; 0: free */
	size_t mask;
};

/* The line of the root that counts of the rare root of @line are moved to, on @rung 0 or, if that
 * is rare as well, 1; and whether the keys below it have the same meaning there. The caller frees;
 * NULL: it stays. */
typedef char *segment_other(const char *line, unsigned int rung, bool *ret_same);

struct history_kind;

/* Where the functions of images begin. ->data is that of both. */
struct segment_functions {
	/* The functions of the image with @line, for ->start; NULL: they are unknown. */
	const void *(*of_line)(const struct segment_functions *f, const char *line);
	/* Finds the offset of the function that has @key. False: there is none. */
	bool (*start)(const void *functions, uint64_t key, uint64_t *ret);
	void *data;
	const struct history_kind *kind; /* whose lines they are */
};

/* How a tree is folded. */
struct segment_folding {
	uint64_t threshold; /* what has less, with all below it, is rare */
	segment_other *other;
	const struct segment_functions *functions; /* NULL: they are unknown */
};

static inline bool segment_is_function(uint64_t key)
{
	return key != SEGMENT_RARE && key >> 62 == 1;
}

void segment_tree_init(struct segment_tree *t);
void segment_tree_done(struct segment_tree *t);
/* Ends adding and counting: frees what only these need. */
void segment_tree_end(struct segment_tree *t);
/* The number of @line, which is copied. */
uint32_t segment_tree_line(struct segment_tree *t, const char *line);
/* The number of the child of @parent with this line and key; a new one if there is none. */
uint32_t segment_tree_node(struct segment_tree *t, uint32_t parent, uint32_t line, uint64_t key);
/* Merges @count nodes, from @nodes[1] on, whose lines are @lines[], or numbers of @t if that is
 * NULL: sets in @numbers[] which node of @t each one is. Of many nodes, this is faster than
 * segment_tree_node(). */
void segment_tree_merge(struct segment_tree *t, const struct segment_node *nodes, size_t count,
			const uint32_t *lines, uint32_t *numbers);
/* Adds a node that the tree does not have, unchecked, and returns its number. Nodes of such a tree
 * cannot be found again. */
uint32_t segment_tree_append(struct segment_tree *t, uint32_t parent, uint32_t line, uint64_t key);
/* Adds @count to @node, with saturation. */
void segment_tree_count(struct segment_tree *t, uint32_t node, uint64_t count);
/* Folds what is rare: roots into those that @how->other names; the samples of a node below one that
 * is kept into its function there, if that is not rare; other nodes into the child SEGMENT_RARE of
 * their nearest ancestor that is kept. Returns for each node, by number, the one
 * that its counts belong to now, 0 if it has none; the caller frees. There may be new nodes. */
uint32_t *segment_tree_fold(struct segment_tree *t, const struct segment_folding *how);
