/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call chains of a session, added up: samples/NAME/chains/ (man opchains.5). Chains that have
 * their outer frames in common share them, as in a tree whose roots are the contexts; each node is
 * stored once, whatever the number of samples.
 *
 * One writer (who holds the session's lock), any number of readers. A writer that is killed loses
 * at most the chain it was adding.
 *
 *	struct chain_store *s;
 *	if (chain_store_open(samples, &s, err) < 0) ...
 *	chain_store_image(s, &image, false, &id, err);
 *	chain_store_context(s, &context, &context_id, err);
 *	chain_store_add(s, context_id, &(struct chain){ frames, count, samples }, err);
 *	chain_store_close(s);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "chains/internal/chain_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHAIN_DIRECTORY "chains" /* below samples/NAME */

/* Frames beyond these, the outermost, are left out. */
enum { CHAIN_FRAMES_MAX = 2048 };

struct chain_frame {
	uint32_t image;	 /* its number */
	uint64_t offset; /* in the image; the upper 16 bits are those of bit 47 */
};

/* A chain and how many samples had it; borrowed. */
struct chain {
	const struct chain_frame *frames; /* the innermost first */
	size_t count;
	uint64_t samples;
};

struct chain_store;

/* Opens the store of the session at @samples for adding, makes it where missing; what a killed
 * writer left is made good. 0 or -errno. Caller closes. */
int chain_store_open(const char *samples, struct chain_store **ret, struct error *err);
/* NULL is fine. */
void chain_store_close(struct chain_store *s);
DEFINE_CLEANUP(struct chain_store *, chain_store_close);

/* The number of an image, good until the store is closed: 0 or -errno (-EOVERFLOW: too many). */
int chain_store_image(struct chain_store *s, const struct sname_image *image, bool is_kernel,
		      uint32_t *ret, struct error *err);
/* The number of a context; likewise. */
int chain_store_context(struct chain_store *s, const struct chain_context *context, uint32_t *ret,
			struct error *err);

/* Adds a chain of the context with that number. 0; or -errno, then its samples are not counted. */
int chain_store_add(struct chain_store *s, uint32_t context, const struct chain *chain,
		    struct error *err);

/* Where callers are in the store. */
struct chain_callers {
	uint32_t node, path;
};

/* The callers of the chain that chain_store_add() added last, good until chain_store_is_full(). */
struct chain_callers chain_store_callers(const struct chain_store *s);
/* Adds a chain that has these callers: 0 or -errno. */
int chain_store_add_called(struct chain_store *s, const struct chain_callers *callers,
			   const struct chain_frame *leaf, uint64_t samples);

/* Whether the next chain_store_add() begins another pair of files. */
bool chain_store_is_full(const struct chain_store *s);

/* Bytes mapped and allocated for lookups. */
size_t chain_store_memory(const struct chain_store *s);
