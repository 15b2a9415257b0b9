/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts into a map of the BPF sampling program how to unwind code that processes generated, in parts
 * of 1 KiB. The parts are limited in number; a user may have half of those that other users leave.
 * The caller owns the store and frees it.
 *
 *	struct code_store *s = code_store_new(sampler);
 *	code_store_put(s, &code);
 *	code_store_free(s);
 */
#pragma once

#include "driver/bpf/sampler.h"
#include "unwind/unwind_code.h"

struct code_store;

/* Creates an empty store for the program of @sampler, which is borrowed. Caller frees. */
struct code_store *code_store_new(struct sampler *sampler);
/* Frees the store; accepts NULL. */
void code_store_free(struct code_store *s);

/* Makes the rows of @code those of its addresses; see struct unwind_code. */
void code_store_put(struct code_store *s, const struct unwind_code *code);
/* The number of parts so far for which there was no room; more memory would help. */
uint64_t code_store_refused(const struct code_store *s);
/* The number of parts so far that have no rows because they would have more than fit into one. */
uint64_t code_store_dense(const struct code_store *s);
