/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what the nodes of a pair of files counted in a window of time from chains/slices.N. All
 * data read is treated as untrusted: a power cut may have kept slices and lost their nodes.
 *
 *	chain_past_open(dir, pair, &slices, err);	before the nodes: both may grow
 *	chain_past_read(slices, &window, &nodes, &past);
 *	sum += past.counts[node];
 *	chain_past_done(&past);
 */
#pragma once

#include "base/error.h"
#include "history/slice_file.h"

#include <stdbool.h>
#include <stdint.h>

struct chain_table;

struct chain_past {
	uint32_t *counts; /* by the node's number, at most those of the node */
	/* If they are few, the nodes with counts in ascending order; NULL: all may have some. */
	uint32_t *nodes;
	size_t node_count;
	size_t slices;	  /* in the window */
	size_t damaged;	  /* bytes, of all slices */
	uint64_t unknown; /* samples in slices that no node has */
};

/* Opens the slices of a pair. Returns 0 (the caller frees) or -errno; -ENOENT if it has none. */
int chain_past_open(const char *dir, uint32_t pair, struct slices **ret, struct error *err);
/* Adds up the counts of the slices that are in the window, each whole or not at all. The caller
 * calls chain_past_done(). */
void chain_past_read(struct slices *slices, const struct window *window,
		     const struct chain_table *nodes, struct chain_past *ret);
void chain_past_done(struct chain_past *p);

/* The nodes of a slice and their counts. */
struct chain_past_entries {
	struct slice_numbers nodes, counts;
	uint64_t node;
};
/* Begins at the first entry; returns false if the content is damaged. */
bool chain_past_begin(const void *content, size_t size, struct chain_past_entries *ret);
/* Goes on to the next entry; returns false at the end. */
bool chain_past_next(struct chain_past_entries *e, uint64_t *ret_node, uint64_t *ret_count);
