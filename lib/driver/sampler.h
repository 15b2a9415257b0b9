/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampling program in the kernel (bpf/sample.bpf.c), from outside: loaded, attached to events,
 * drained. All of it goes with the process, however that ends.
 *
 *	struct sampler *s;
 *	if (sampler_new(&(struct sampler_config){ .keys = 16384 }, &s, err) == 0)
 *		link = sampler_attach(event, 0, s);
 *	sampler_drain(s, &handler, err);
 *	sampler_free(s);
 */
#pragma once

#include "base/error.h"
#include "bpf/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sampler;

struct sampler_config {
	size_t keys; /* that may be counted between two drains */
	bool follow; /* only processes that sampler_follow() names, and their descendants */
};

/* Loads the program and has it look up an address of ours; 0, or -errno with the reason why it
 * cannot be used here, one line. Caller frees. */
int sampler_new(const struct sampler_config *config, struct sampler **ret, struct error *err);
/* Unloads; NULL is fine. What was attached holds the program until it is closed. */
void sampler_free(struct sampler *s);
DEFINE_CLEANUP(struct sampler *, sampler_free);

/* Lets the program take the samples of the event @fd under the number @counter; a descriptor that
 * keeps it so, or -errno. A perf_attach: @sampler is the struct sampler. */
int sampler_attach(int fd, unsigned int counter, void *sampler);

/* A descriptor that polls readable when a drain is due early. */
int sampler_fd(const struct sampler *s);

/* Takes what comes out; what is pointed at is borrowed for the call. */
struct sampler_handler {
	void (*image)(const struct sample_image *image, void *data);
	void (*sample)(const struct sample_key *key, uint64_t count, void *data);
	void *data;
};

/* Hands over all that was counted up to now: first the images seen for the first time, then the
 * samples, those of one context together. 0 or -errno. */
int sampler_drain(struct sampler *s, const struct sampler_handler *handler, struct error *err);

/* Totals of all CPUs. */
void sampler_counters(const struct sampler *s, struct sample_counters *ret);

/* Has the path of @file told again at its next sample. */
void sampler_forget_image(struct sampler *s, const struct sample_file *file);

/* Follows process @tgid (of the first PID namespace); 0 or -errno. */
int sampler_follow(struct sampler *s, uint32_t tgid, enum sample_follow state);
/* Whether a process that is followed lives. */
bool sampler_any_followed(const struct sampler *s);
