/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores the call chains of a session with a sample count for each: samples/NAME/chains/ (man
 * opchains.5). The chains form trees whose roots are the contexts. Chains with the same outer
 * frames share nodes, and each node is stored once, however many samples there are.
 *
 * There is one writer (the holder of the session's lock) and any number of readers. A writer that
 * is killed loses at most the chain it was adding. The store owns its memory; arguments are
 * borrowed for the call.
 *
 *	struct chain_store *s;
 *	if (chain_store_open(samples, &s, err) < 0) ...
 *	chain_store_turn(s, err);
 *	chain_store_image(s, &image, false, &id, err);
 *	chain_store_context(s, &context, &context_id, err);
 *	chain_store_add(s, context_id, &(struct chain){ frames, count, samples }, err);
 *	chain_store_close(s);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "chains/chain.h"
#include "chains/chain_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chain_store;
struct slice;

/* Opens the store of the session at @samples for adding. Creates it if missing and repairs what a
 * killed writer left. Returns 0 (the caller closes) or -errno. */
int chain_store_open(const char *samples, struct chain_store **ret, struct error *err);
/* The same for a session with a history: begins a new pair of files, and notes what is counted in
 * each slice for chain_store_end_slice(). */
int chain_store_open_sliced(const char *samples, struct chain_store **ret, struct error *err);
/* Closes the store; NULL is allowed. */
void chain_store_close(struct chain_store *s);
DEFINE_CLEANUP(struct chain_store *, chain_store_close);

/* Starts another pair of files if this one is full. Returns 1 if it did: all numbers and callers
 * are then invalid; else 0, or -errno. To be called before each chain of a store that can become
 * full; after an error, before anything else. */
int chain_store_turn(struct chain_store *s, struct error *err);
/* Gets the number of an image, valid until chain_store_turn() returns 1. Returns 0 or -errno
 * (-EOVERFLOW: too many images). */
int chain_store_image(struct chain_store *s, const struct sname_image *image, bool is_kernel,
		      uint32_t *ret, struct error *err);
/* Gets the number of a context, valid for the same time. Returns 0 or -errno. */
int chain_store_context(struct chain_store *s, const struct chain_context *context, uint32_t *ret,
			struct error *err);

/* Adds a chain of the context with number @context. Returns 0, or -errno, in which case its samples
 * are not counted. */
int chain_store_add(struct chain_store *s, uint32_t context, const struct chain *chain,
		    struct error *err);

/* Position of a chain's callers in the store. */
struct chain_callers {
	uint32_t node, path;
};

/* Returns the callers of the chain that chain_store_add() added last, valid for the same time. */
struct chain_callers chain_store_callers(const struct chain_store *s);
/* Adds a chain of @leaf and these callers. Returns 0 or -errno. */
int chain_store_add_called(struct chain_store *s, const struct chain_callers *callers,
			   const struct chain_frame *leaf, uint64_t samples);

/* Writes what was counted since the last slice as @slice, and begins the next one. After a slice
 * that ends in another hour than the first one of a pair of files, the next pair begins.
 * Returns 0, or -errno: some of what was counted is then in no slice. */
int chain_store_end_slice(struct chain_store *s, const struct slice *slice, struct error *err);

/* Ends the pair of files: the next chain_store_turn() starts another one. */
void chain_store_end_pair(struct chain_store *s);

/* Returns the first pair of files that is not complete: what is counted in it, or in slices of it,
 * may change. */
uint32_t chain_store_live(const struct chain_store *s);

/* Returns whether the next chain_store_turn() starts another pair of files. */
bool chain_store_is_full(const struct chain_store *s);

/* Returns the bytes mapped and allocated for lookups. */
size_t chain_store_memory(const struct chain_store *s);
