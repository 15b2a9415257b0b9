/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who takes what the sampling program has noted.
 *
 *	const struct sampler_handler handler = { .image = take_image, .sample = take_sample };
 *	sampler_drain(sampler, &handler);
 */
#pragma once

#include "bpf/sample.h"

#include <stdint.h>

/* Callbacks for the program's output; pointers are borrowed during the call. */
struct sampler_handler {
	void (*image)(const struct sample_image *image, void *data);
	void (*chain)(const struct sample_chain *chain, void *data);
	void (*function)(const struct sample_function *function, void *data); /* or NULL */
	void (*doubt)(const struct sample_doubt *doubt, void *data);	      /* or NULL */
	void (*sample)(const struct sample_key *key, uint32_t callers, uint64_t count, void *data);
	/* Returns the number of a chain's callers, by which the samples of a context are sorted; or
	 * NULL. */
	uint32_t (*number)(uint64_t chain, void *data);
	/* Returns the epoch of a sample in kernel code that may be replaced; or NULL. Samples are
	 * passed in the order of their epochs. Other samples have the epoch of time 0. */
	uint32_t (*epoch)(uint64_t at_ns, void *data);
	void *data;
};
