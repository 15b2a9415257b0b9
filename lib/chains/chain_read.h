/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and checks the call chains of sessions (chain_store.h). All data read from the files is
 * treated as untrusted. A reader owns what it returns.
 *
 *	struct chain_reader *r;
 *	if (chain_reader_open(samples, NULL, &r, err) == 0)	-ENOENT: there are none
 *		chain_reader_each(r, add_up, data);
 *	chain_reader_close(r);
 */
#pragma once

#include "chains/chain_store.h"
#include "history/window.h"

#include <stdbool.h>

struct chain_reader;
struct steps;

/* Opens the chains of the session at @samples. With @window, chains have the samples of the slices
 * that have an instant in common with it (ophistory(5)); NULL: all samples. Returns 0 (the caller
 * closes), or -errno: -ENOENT if there are none. */
int chain_reader_open(const char *samples, const struct window *window, struct chain_reader **ret,
		      struct error *err);
/* The same, each part of the window from the finest level that has it, however long it is. */
int chain_reader_open_finest(const char *samples, const struct window *window,
			     struct chain_reader **ret, struct error *err);
/* The same of the pairs of files that no sum has (history/history_source.h), and of no segment. */
int chain_reader_open_unsummed(const char *samples, const struct window *window,
			       struct chain_reader **ret, struct error *err);
/* Closes the files: there are no chains then, but the names are still there. */
void chain_reader_close_files(struct chain_reader *r);
/* Closes the reader; NULL is allowed. */
void chain_reader_close(struct chain_reader *r);
DEFINE_CLEANUP(struct chain_reader *, chain_reader_close);

/* Returns the images and contexts that the reader's numbers refer to, borrowed. */
const struct chain_names *chain_reader_names(const struct chain_reader *r);

/* Calls @each with every chain that has samples and the number of its context, until a call returns
 * non-zero, which is returned. A chain can occur more than once: the callback must add up. Invalid
 * nodes are skipped. */
int chain_reader_each(struct chain_reader *r,
		      int (*each)(uint32_t context, const struct chain *chain, void *data),
		      void *data);

/* The number of nodes of all files, including 0, which is none. They are numbered from 1 on; ->node
 * of a chain is that of its innermost frame. */
uint32_t chain_reader_nodes(const struct chain_reader *r);
/* The tree of one file, whose nodes come one after the other; here they are numbered from 1 on.
 * Parents come before their children. */
struct chain_reader_tree {
	uint32_t before; /* nodes of other files that come before these */
	uint32_t nodes, places;
	/* By node: 0 for a root, which has a context and no frame. */
	const uint32_t *parents;
	/* By node: nodes with the same place have the same frame, or the same context. 0: it is
	 * invalid, and so is what is below it. */
	const uint32_t *place_of;
	const uint64_t *counts; /* by node: the samples of the chain that ends there */
};
/* The number of trees. */
size_t chain_reader_trees(const struct chain_reader *r);
/* How many nodes and places tree number @i has, without reading it. */
struct chain_reader_tree chain_reader_size(const struct chain_reader *r, size_t i);
/* Reads tree number @i, which is borrowed until it is forgotten. */
struct chain_reader_tree chain_reader_tree(struct chain_reader *r, size_t i);
/* Frees what is only needed for the nodes of a tree: they are read again if they are asked for. It
 * still has its slices, for visitors that want nodes only. */
void chain_reader_forget_tree(struct chain_reader *r, size_t i);
/* Gets the frame of nodes with a place of tree number @i; false if there is none. It is of a whole
 * function if *@ret_is_function is set, as in struct chain. */
bool chain_reader_frame(const struct chain_reader *r, size_t i, uint32_t place,
			struct chain_frame *ret, bool *ret_is_function);
/* The context of roots with a place of tree number @i; 0: there is none. */
uint32_t chain_reader_context(const struct chain_reader *r, size_t i, uint32_t place);
/* Gets the chain of a node and its context; its frames are valid until the next call. False if the
 * node is invalid, or one above it. */
bool chain_reader_chain(struct chain_reader *r, uint32_t node, uint32_t *ret_context,
			struct chain *ret);

/* What is called for the slices of a session: ->each for every chain of a slice, as by
 * chain_reader_each(); then ->end. A call that returns non-zero ends the visit. */
struct chain_visitor {
	bool nodes_only; /* chains have only their ->node and samples; their context is 0 */
	/* With ->nodes_only, by node: the number below ->number_count that ->node is instead.
	 * Chains with 0 are left out, those of one number may be visited as one. NULL: itself. */
	const uint32_t *numbers;
	uint32_t number_count;
	/* Slices of a segment that are in one step may be visited as one. NULL: they are not. */
	const struct steps *steps;
	/* Whether a slice is visited; NULL: all are. */
	bool (*wants)(const struct slice *slice, void *data);
	int (*each)(uint32_t context, const struct chain *chain, void *data);
	int (*end)(const struct slice *slice, void *data);
	void *data;
};
/* Visits all slices, in their order, also those outside of the reader's window. Samples that a
 * slice has, but no node, are left out. A slice can occur twice. Returns 0 or what a call
 * returned. */
int chain_reader_each_slice(struct chain_reader *r, const struct chain_visitor *v);
/* Makes the reader, which must have no window, one of the samples that are in no slice. */
void chain_reader_keep_rest(struct chain_reader *r);

/* What is wrong with the reader's pairs of files, and was left out. */
struct chain_skipped {
	bool is_damaged;  /* nodes, or what they refer to, are missing */
	uint64_t invalid; /* samples of nodes that are there, but invalid */
	size_t bytes;	  /* of slices, that are no whole one */
	uint64_t samples; /* that a slice in the window has, but no node */
	size_t pairs;	  /* without slices, whose chains are in no window */
	uint64_t lost;	  /* samples in the window of pairs without nodes; there may be more */
};
struct chain_skipped chain_reader_skipped(const struct chain_reader *r);
/* The samples whose chains were too rare to be kept: they end in a frame with the offset
 * HISTORY_RARE, which is called by the last frame that was kept. */
uint64_t chain_reader_folded(struct chain_reader *r);

/* Calls @each for the arcs of all chains that chain_reader_each() reports. Arcs between frames that
 * chains share in the tree are reported once, with the samples added up; others can occur more than
 * once. The arc is borrowed for the call. */
void chain_reader_arcs(struct chain_reader *r,
		       void (*each)(const struct chain_arc *arc, void *data), void *data);

/* Damage found in the files. */
struct chain_damage {
	uint64_t nodes;		 /* that are invalid, or below an invalid one */
	uint64_t samples;	 /* samples of those nodes */
	uint64_t emptied;	 /* files of nodes without any, although there were some */
	uint32_t emptied_number; /* of the first of them: 0 for nodes.0 */
	uint64_t absent;	 /* files that are not there, although others refer to them */
	const char *absent_name; /* of the first of them, without its number: "places" */
	uint32_t absent_number;
	uint64_t lost;	  /* samples in slices whose nodes are absent; there may be more */
	uint64_t missing; /* tables with fewer records than their headers count */
	uint64_t bytes;	  /* of names that are invalid */
	bool any;
};
/* Checks all nodes. */
void chain_reader_check(const struct chain_reader *r, struct chain_damage *ret);
