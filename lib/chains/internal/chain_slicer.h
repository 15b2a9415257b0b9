/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes which nodes of a chain store are counted in a slice of time, and writes their counts at its
 * end to chains/slices.N of each pair of files (man opchains.5). The memory grows with the nodes
 * that are counted in one slice. The store embeds the struct.
 *
 *	struct chain_slicer l = CHAIN_SLICER_INIT;
 *	chain_slicer_note(&l, node, count);	before each change of a node's count
 *	chain_slicer_leave(&l, &nodes, pair);	before another pair begins
 *	chain_slicer_end(&l, &nodes, &place, &slice, err);
 *	chain_slicer_done(&l);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "history/slice_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chain_table;

/* A node that was counted in the slice. */
struct chain_touched {
	uint32_t number, then; /* ->then: its count when the slice began */
};

/* What was counted in a pair that ended within the slice. */
struct chain_left {
	uint32_t pair;
	struct slice_file *file; /* NULL: not open */
	char *content;
	size_t size;
};

struct chain_slicer {
	uint64_t *bits; /* one per node: whether it is in ->touched */
	size_t words;
	struct chain_touched *touched;
	size_t count, room;
	struct chain_left *left;
	size_t left_count, left_room;
	struct slice_file *file; /* of the current pair; NULL: not open */
};

/* Whether the file of the current pair is so large that another pair should be begun. */
static inline bool chain_slicer_is_full(const struct chain_slicer *l)
{
	return l->file && slice_file_is_full(l->file);
}

/* Where the current pair of files is. */
struct chain_slicer_place {
	const char *dir;
	uint32_t pair;
};

#define CHAIN_SLICER_INIT ((struct chain_slicer){ 0 })

/* Adds a node that is not noted yet. */
void chain_slicer_add(struct chain_slicer *l, uint32_t node, uint32_t count);

/* Notes that @node, whose count is @count, is about to be counted. */
static inline void chain_slicer_note(struct chain_slicer *l, uint32_t node, uint32_t count)
{
	if (_unlikely_(node / 64 >= l->words || !(l->bits[node / 64] >> node % 64 & 1)))
		chain_slicer_add(l, node, count);
}

/* Sets aside what was counted in a pair of files, whose nodes are @nodes, until the slice ends. */
void chain_slicer_leave(struct chain_slicer *l, const struct chain_table *nodes, uint32_t pair);
/* Writes what was counted, and begins the next slice. Nothing is written to a pair without counts.
 * Returns 0, or -errno: some of what was counted is then in no slice. */
int chain_slicer_end(struct chain_slicer *l, const struct chain_table *nodes,
		     const struct chain_slicer_place *place, const struct slice *slice,
		     struct error *err);
/* Frees everything and closes the file; what was noted is discarded. */
void chain_slicer_done(struct chain_slicer *l);
/* Returns the bytes allocated. */
size_t chain_slicer_memory(const struct chain_slicer *l);

/* Returns the path of a pair's slices; the caller frees. */
char *chain_slices_path(const char *dir, uint32_t pair);
