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

/* A node of the trees that chains are stored in. The nodes of all files have numbers, from 1 on,
 * parents before their children; ->node of a chain is that of its innermost frame. */
struct chain_reader_node {
	uint32_t parent;  /* 0: a root, which has a context and no frame */
	uint32_t context; /* of a root; 0: it is invalid */
	uint32_t place;	  /* of others: nodes with the same one have the same frame; 0: not known */
	uint64_t samples; /* of the chain that ends there */
	bool is_function; /* as in struct chain, if there are samples */
};
/* The number of nodes, including 0, which is none. */
uint32_t chain_reader_nodes(const struct chain_reader *r);
/* The nodes of one file, which come one after the other, as all their places do. */
struct chain_reader_part {
	uint32_t first, count; /* nodes */
	uint32_t first_place, place_count;
};
/* The number of parts. */
size_t chain_reader_parts(const struct chain_reader *r);
/* Part number @i. */
struct chain_reader_part chain_reader_part(const struct chain_reader *r, size_t i);
/* Frees what is only needed for the nodes of a part, which must not be asked for any more: then it
 * still has its slices, for visitors that want nodes only. */
void chain_reader_forget_part(struct chain_reader *r, size_t i);
/* Frees memory of the nodes of a part before a node; asking for one takes it again. */
void chain_reader_forget_before(struct chain_reader *r, uint32_t node);
/* Gets a node; false if it is invalid: then, or without a frame. It is fastest if the last call was
 * for the same file. */
bool chain_reader_node(struct chain_reader *r, uint32_t node, struct chain_reader_node *ret);
/* Gets the frame of a node that has a parent; false if it has none. */
bool chain_reader_frame(struct chain_reader *r, uint32_t node, struct chain_frame *ret);
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

/* What is wrong with the slices of the reader's pairs of files, and was left out. */
struct chain_skipped {
	size_t bytes;	  /* that are no whole slice */
	uint64_t samples; /* that a slice in the window has, but no node */
};
struct chain_skipped chain_reader_skipped(const struct chain_reader *r);
/* The samples whose chains were too rare to be kept: they end in a frame with the offset
 * HISTORY_RARE, which is called by the last frame that was kept. */
uint64_t chain_reader_folded(const struct chain_reader *r);

/* Calls @each for the arcs of all chains that chain_reader_each() reports. Arcs between frames that
 * chains share in the tree are reported once, with the samples added up; others can occur more than
 * once. The arc is borrowed for the call. */
void chain_reader_arcs(const struct chain_reader *r,
		       void (*each)(const struct chain_arc *arc, void *data), void *data);

/* Damage found in the files. */
struct chain_damage {
	uint64_t nodes;		 /* that are invalid, or below an invalid one */
	uint64_t samples;	 /* samples of those nodes */
	uint64_t emptied;	 /* files of nodes without any, although there were some */
	uint32_t emptied_number; /* of the first of them: 0 for nodes.0 */
	uint64_t missing;	 /* tables with fewer records than their headers count */
	uint64_t bytes;		 /* of names that are invalid */
	bool any;
};
/* Checks all nodes. */
void chain_reader_check(const struct chain_reader *r, struct chain_damage *ret);
