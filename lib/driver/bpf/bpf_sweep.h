/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forgets files and other images that have not been sampled for long, once there are many, so that
 * the daemon's memory does not grow with all that ever ran. It takes two steps: first the program
 * is made to report again what it samples from now on; some time later, what it has not reported is
 * forgotten. The caller owns the structure.
 *
 *	struct bpf_sweep sweep = { 0 };
 *	... after each drain, when the event buffer is empty:
 *	swept += bpf_sweep(&sweep, sampler, &samples);
 */
#pragma once

#include "driver/bpf/bpf_samples.h"
#include "driver/bpf/sampler.h"

struct bpf_sweep {
	size_t limit;	   /* of images; 0: the default */
	uint64_t begun_ns; /* when the first step was taken; 0: it was not */
};

/* Takes a step if it is time, at @samples->now_ns. Returns the number of images forgotten. */
size_t bpf_sweep(struct bpf_sweep *w, struct sampler *sampler, struct bpf_samples *samples);
