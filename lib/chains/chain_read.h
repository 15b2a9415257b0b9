/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads, merges, checks and repairs the call chains of sessions (chain_store.h). All data read from
 * the files is treated as untrusted. A reader owns what it returns.
 *
 *	struct chain_reader *r;
 *	if (chain_reader_open(samples, &r, err) == 0)	-ENOENT: there are none
 *		chain_reader_each(r, add_up, data);
 *	chain_reader_close(r);
 */
#pragma once

#include "chains/chain_store.h"

#include <stdbool.h>

struct chain_reader;

/* Opens the chains of the session at @samples. Returns 0 (the caller closes), or -errno: -ENOENT if
 * there are none. */
int chain_reader_open(const char *samples, struct chain_reader **ret, struct error *err);
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

/* A caller and callee, adjacent frames in chains of one context. The outermost frame is a callee,
 * too: of no caller, whose image is 0. */
struct chain_arc {
	uint32_t context;
	struct chain_frame caller, callee;
	uint64_t samples;
	uint64_t returns; /* those of ->samples in which the callee's offset is a return address */
};

/* Calls @each for the arcs of all chains that chain_reader_each() reports. Arcs between frames that
 * chains share in the tree are reported once, with the samples added up; others can occur more than
 * once. The arc is borrowed for the call. */
void chain_reader_arcs(const struct chain_reader *r,
		       void (*each)(const struct chain_arc *arc, void *data), void *data);

/* Damage found in the files. */
struct chain_damage {
	uint64_t nodes;		     /* that are invalid, or below an invalid one */
	uint64_t samples;	     /* samples of those nodes */
	uint64_t emptied;	     /* files of nodes without any, although there were some */
	unsigned int emptied_number; /* of the first of them: 0 for nodes.0 */
	uint64_t missing;	     /* tables with fewer records than their headers count */
	uint64_t bytes;		     /* of names that are invalid */
	bool any;
};
/* Checks all nodes. */
void chain_reader_check(const struct chain_reader *r, struct chain_damage *ret);

/* Adds all chains of the session at @samples to @to. Returns 0 or -errno (-ENOENT if there are
 * none). */
int chain_merge(const char *samples, struct chain_store *to, struct error *err);
/* Rewrites the session's files with all valid chains. Returns 0, or -errno with the old files kept.
 * Must not run while a writer is active. */
int chain_repair(const char *samples, struct error *err);
