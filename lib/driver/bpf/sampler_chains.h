/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call chains found by the BPF sampling program, which identifies each list of callers by a
 * 64-bit id. Each is written to the event buffer once, under a small number, and samples then refer
 * to that number. The caller owns the store; it borrows what it is created with.
 *
 *	struct sampler_chains *chains = sampler_chains_new(&config);
 *	sampler_chains_add(chains, message, now_ns);
 *	sampler_chains_put(chains, &leaf, sampler_chains_number(chains, chain), &trace);
 *	sampler_chains_prune(chains);
 */
#pragma once

#include "stream/evbuf.h"
#include "driver/bpf/sampler.h"
#include "driver/bpf/sampler_images.h"

struct sampler_chains;
struct sampler_functions;

/* All pointers are borrowed. */
struct sampler_chains_config {
	struct sampler *sampler;
	struct sampler_images *images;
	struct sampler_functions *functions;
	struct cookie_table *cookies;
	struct evbuf *out;
};

/* Creates an empty store. Caller frees. */
struct sampler_chains *sampler_chains_new(const struct sampler_chains_config *config);
/* Frees the store; accepts NULL. */
void sampler_chains_free(struct sampler_chains *t);

/* Adds a list of callers that the program has found for the first time. */
void sampler_chains_add(struct sampler_chains *t, const struct sample_chain *chain,
			uint64_t now_ns);

/* The event buffer's number of the callers @id; 0 if they are not known. */
uint32_t sampler_chains_number(struct sampler_chains *t, uint64_t id);

/* Why there are no callers beyond those of @number; for 0, because the program had no room. */
enum chain_end sampler_chains_end(const struct sampler_chains *t, uint32_t number);
/* Whether samples with the callers @number end at once, because a copy of their file's text is no
 * place for which the program has an unwind table. */
bool sampler_chains_end_in_copy(const struct sampler_chains *t, uint32_t number);

/* Writes samples at @leaf with the callers @number, 0 if unknown, to the event buffer. */
void sampler_chains_put(struct sampler_chains *t, const struct evbuf_frame *leaf, uint32_t number,
			const struct evbuf_trace *trace);
/* Writes all chains through the @length bytes of kernel code at @start to the event buffer again,
 * because other code is there now. */
void sampler_chains_tell_again(struct sampler_chains *t, uint64_t start, uint64_t length);
/* Sets whether callers are written in full with each sample; initially they are not. */
void sampler_chains_spell_out(struct sampler_chains *t, bool on);

/* Makes all chains be reported again, to @out. Sampling must be stopped meanwhile. */
void sampler_chains_restart(struct sampler_chains *t, struct evbuf *out);

/* Makes the next sampler_chains_renew() leave the callers @id alone. */
void sampler_chains_keep(struct sampler_chains *t, uint64_t id);
/* Makes the program report chains again that occur from now on: @count of them, from number @from
 * on. Returns the number to go on with; 0 at the end. Call it after sampler_chains_prune(). */
size_t sampler_chains_renew(struct sampler_chains *t, size_t from, size_t count);
/* Forgets the chains unused for longest if there are many. Call it after each drain. */
void sampler_chains_prune(struct sampler_chains *t);
