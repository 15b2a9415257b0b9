/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call chains that the sampling program knows by number, as frames of the event buffer.
 *
 *	struct sampler_chains *chains = sampler_chains_new(sampler, images, cookies);
 *	sampler_chains_add(chains, message, now_ns);
 *	count = sampler_chains_get(chains, key->chain, now_ns, frames, room, &end);
 *	sampler_chains_prune(chains, now_ns);
 */
#pragma once

#include "driver/evbuf.h"
#include "driver/sampler.h"
#include "driver/sampler_images.h"

struct sampler_chains;

/* An empty store; what is given is borrowed for its life. Caller frees. */
struct sampler_chains *sampler_chains_new(struct sampler *sampler, struct sampler_images *images,
					  struct cookie_table *cookies);
/* NULL is fine. */
void sampler_chains_free(struct sampler_chains *t);

/* Takes in callers that the program met together for the first time. */
void sampler_chains_add(struct sampler_chains *t, const struct sample_chain *chain,
			uint64_t now_ns);

/* Writes the callers of the chain @id to @frames, at most @room of them: their number, with why
 * there are no more in *@ret. 0 and EVBUF_END_UNKNOWN for one that is not known. */
size_t sampler_chains_get(struct sampler_chains *t, uint64_t id, uint64_t now_ns,
			  struct evbuf_frame *frames, size_t room, enum evbuf_end *ret);

/* Forgets chains that did not come for long where there are many. */
void sampler_chains_prune(struct sampler_chains *t, uint64_t now_ns);
