/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places in call chains: each address in each image, by what it was doing. From them comes how
 * many samples are in what a place calls, or several of them, such as those of a source line: a
 * sample counts once, however often it goes through them.
 *
 *	struct chain_calls *calls;
 *	if (chain_calls_collect(&chains, NULL, &calls, err) == 0) {
 *		chain_keys_add(&keys, calls, place, 7);		the place belongs to key 7
 *		chain_calls_sum(calls, &keys, sums);		sums[7]
 *	}
 *	chain_calls_free(calls);
 *
 * Memory is the caller's, except what chain_keys_done() and chain_calls_free() free.
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "symbol/symtab.h"

#include <stddef.h>
#include <stdint.h>

struct chains;
struct chain_calls;

struct chain_calls_place {
	uint32_t image; /* of the gather */
	enum code_role role;
	uint64_t offset; /* of the frame: symtab_code_at() finds the code */
};

/* Code of an image of the gather: the places whose offsets are in [begin, end]. */
struct chain_calls_code {
	uint32_t image;
	uint64_t begin, end;
};

/* Code, sorted by image. */
struct chain_calls_wanted {
	struct chain_calls_code *list;
	size_t count;
};

/* Reads the chains that the specification selects, which are open: those of one event. They may
 * have been collected before, with ->is_read_again. With @wanted there are only places in that
 * code, which takes much less time and memory. Returns 0, the caller frees; or -errno: -EINVAL if
 * they are of several events, -ENODATA if there are none, or none in that code. */
int chain_calls_collect(struct chains *c, const struct chain_calls_wanted *wanted,
			struct chain_calls **ret, struct error *err);
/* NULL is fine. */
void chain_calls_free(struct chain_calls *c);
DEFINE_CLEANUP(struct chain_calls *, chain_calls_free);

/* The number of places, which are sorted by image and offset. */
size_t chain_calls_count(const struct chain_calls *c);
/* Place number @i; borrowed. */
const struct chain_calls_place *chain_calls_place(const struct chain_calls *c, size_t i);
/* The number of the first place at or after an offset in an image, or of one after the image. */
size_t chain_calls_first(const struct chain_calls *c, uint32_t image, uint64_t offset);

/* What places belong to: each to any number of keys. */
struct chain_keys {
	struct chain_keys_list *lists; /* by place; NULL: there are none */
	size_t from, to;	       /* places outside of [from, to) have no keys */
	struct chain_keys_item *items;
	size_t count, room;
};

#define CHAIN_KEYS_INIT ((struct chain_keys){ 0 })

/* Adds @key to those of a place, unless it has it. */
void chain_keys_add(struct chain_keys *k, const struct chain_calls *c, size_t place, uint32_t key);
/* Frees all; CHAIN_KEYS_INIT is fine. */
void chain_keys_done(struct chain_keys *k);
/* Adds to @sums, by key, the samples in what places of the key call, without those that are at a
 * place of the key themselves: of these the caller knows the number from sample files. */
void chain_calls_sum(const struct chain_calls *c, const struct chain_keys *k, uint64_t *sums);
