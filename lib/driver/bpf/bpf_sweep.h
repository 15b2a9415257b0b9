/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forgets files and other images that have not been sampled for long, once there are many, so that
 * the daemon's memory does not grow with all that ever ran. First the program is made to report
 * again what it samples from now on; some time later, what it has not reported is forgotten. All
 * this takes many small steps, because the caller has samples to drain. The caller owns the
 * structure.
 *
 *	struct bpf_sweep sweep = { 0 };
 *	... after each drain, when the event buffer is empty:
 *	swept += bpf_sweep(&sweep, sampler, &samples);
 */
#pragma once

#include "driver/bpf/bpf_samples.h"
#include "driver/bpf/map_reader.h"
#include "driver/bpf/sampler.h"

struct bpf_sweep {
	size_t limit; /* of images; 0: the default */
	enum {
		BPF_SWEEP_OFF,
		BPF_SWEEP_IMAGES, /* the program is made to report images again, */
		BPF_SWEEP_CHAINS, /* and chains */
		BPF_SWEEP_WAIT,	  /* it samples */
		BPF_SWEEP_KEEP	  /* what is still in use without being sampled is noted */
	} stage;
	size_t next;	  /* image or chain to be reported again */
	uint64_t told_ns; /* when all were */
	struct map_reader executables;
};

/* Takes a step if it is time, at @samples->now_ns. Returns the number of images forgotten. */
size_t bpf_sweep(struct bpf_sweep *w, struct sampler *sampler, struct bpf_samples *samples);
