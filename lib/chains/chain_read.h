/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading, adding up and checking the call chains of sessions (chain_store.h). Nothing here trusts
 * a byte of the files.
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

/* Opens the chains of the session at @samples. 0 or -errno: -ENOENT if there are none. Caller
 * closes. */
int chain_reader_open(const char *samples, struct chain_reader **ret, struct error *err);
/* NULL is fine. */
void chain_reader_close(struct chain_reader *r);
DEFINE_CLEANUP(struct chain_reader *, chain_reader_close);

/* What its numbers stand for; borrowed. */
const struct chain_names *chain_reader_names(const struct chain_reader *r);

/* Calls @each with every chain that has samples and the number of its context, until one returns
 * non-zero, which is returned. A chain may come more than once: readers add. What makes no sense is
 * passed over. */
int chain_reader_each(struct chain_reader *r,
		      int (*each)(uint32_t context, const struct chain *chain, void *data),
		      void *data);

/* Frames one of which calls the other, in chains of one context. */
struct chain_arc {
	uint32_t context;
	struct chain_frame caller, callee;
	uint64_t samples;
};

/* Calls @each for the arcs of all chains that chain_reader_each() tells of; those that chains have
 * in common come once. What is pointed at is borrowed for the call. */
void chain_reader_arcs(const struct chain_reader *r,
		       void (*each)(const struct chain_arc *arc, void *data), void *data);

/* What is wrong with the files. */
struct chain_damage {
	uint64_t nodes;	  /* that make no sense, or are below such */
	uint64_t samples; /* of those */
	uint64_t missing; /* records that are counted and not there */
	uint64_t bytes;	  /* of names that make no sense */
	bool any;
};
/* Looks at all nodes. */
void chain_reader_check(const struct chain_reader *r, struct chain_damage *ret);

/* Adds all chains of the session at @samples to @to: 0 or -errno (-ENOENT if there are none). */
int chain_merge(const char *samples, struct chain_store *to, struct error *err);
/* Writes the files of the session anew with all chains that make sense. 0 or -errno, and then the
 * old ones stand. Not while a writer is at work. */
int chain_repair(const char *samples, struct error *err);
