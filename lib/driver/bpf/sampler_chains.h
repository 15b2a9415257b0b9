/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The callers that the sampling program knows by number: told to the event buffer when they come,
 * under a small number of its own.
 *
 *	struct sampler_chains *chains = sampler_chains_new(sampler, images, cookies, out);
 *	sampler_chains_add(chains, message, now_ns);
 *	sampler_chains_put(chains, &leaf, sampler_chains_number(chains, chain), &trace);
 *	sampler_chains_prune(chains);
 */
#pragma once

#include "stream/evbuf.h"
#include "driver/bpf/sampler.h"
#include "driver/bpf/sampler_images.h"

struct sampler_chains;

/* An empty store; what is given is borrowed for its life. Caller frees. */
struct sampler_chains *sampler_chains_new(struct sampler *sampler, struct sampler_images *images,
					  struct cookie_table *cookies, struct evbuf *out);
/* NULL is fine. */
void sampler_chains_free(struct sampler_chains *t);

/* Takes in callers that the program met together for the first time. */
void sampler_chains_add(struct sampler_chains *t, const struct sample_chain *chain,
			uint64_t now_ns);

/* The event buffer's number of the callers @id; 0 if they are not known. */
uint32_t sampler_chains_number(struct sampler_chains *t, uint64_t id);

/* Why there are no callers beyond those of @number; of 0, for want of room in the program. */
enum chain_end sampler_chains_end(const struct sampler_chains *t, uint32_t number);

/* Puts samples at @leaf with the callers @number, 0 if they are not known, into the event buffer.
 */
void sampler_chains_put(struct sampler_chains *t, const struct evbuf_frame *leaf, uint32_t number,
			const struct evbuf_trace *trace);
/* Tells once more of all callers that pass through the @length bytes of kernel code at @start:
 * other code is there now. */
void sampler_chains_tell_again(struct sampler_chains *t, uint64_t start, uint64_t length);
/* Whether callers are spelt out at each sample; in the beginning they are not. */
void sampler_chains_spell_out(struct sampler_chains *t, bool on);

/* Has all told once more, to @out. Nothing may be counted meanwhile. */
void sampler_chains_restart(struct sampler_chains *t, struct evbuf *out);

/* Where there are many, has those forgotten that did not come for longest. After each drain. */
void sampler_chains_prune(struct sampler_chains *t);
