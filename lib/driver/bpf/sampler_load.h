/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads the BPF sampling program: chooses its parts, and sets its constants and the sizes of its
 * maps, which are fixed from then on.
 *
 *	struct sampler_sizes sizes;
 *	struct sample *skeleton;
 *	if (sampler_load(&(struct sampler_config){ .keys = 16384 }, &sizes, &skeleton, err) == 0)
 *		bytes = sampler_load_bytes(skeleton);
 *	// then sample__destroy(), which bpf/sample.skel.h declares
 */
#pragma once

#include "base/error.h"
#include "event/evoffcpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample;

enum { SAMPLER_CHAINS_MAX = 32768 }; /* known at the same time */

struct sampler_config {
	size_t keys; /* maximum counted on each CPU between two drains */
	bool follow; /* sample only processes passed to sampler_follow(), and their descendants */
	unsigned int depth; /* maximum frames in a chain, including the sample; 0: no chains */
	bool by_frame_pointers;
	uint32_t tables;   /* maximum files with an unwind table or without; 0: SAMPLE_TABLES_MAX */
	bool interpreters; /* chains have the frames of interpreted code */
	bool pass_on;	   /* write samples to the event's ring as well */
	bool cgroups;	   /* keys include the cgroup */
	bool comms;	   /* keys include the thread's name */
	struct evoffcpu offcpu; /* if it has events, sampler_offcpu() may be called */
};

/* Numbers that the maps are made for. */
struct sampler_sizes {
	size_t cpus, gates;
	size_t places, keys; /* number of places where CPUs count, and of keys at each */
	uint32_t tables;     /* number of files whose unwind tables are known */
	uint32_t codes;	     /* KiB of generated code whose unwinding is known */
};

/* Opens and loads the program, which is not attached to anything. Returns 0, or -errno with the
 * reason why it cannot be used here, in one line. The caller destroys *@ret with
 * sample__destroy(). */
int sampler_load(const struct sampler_config *config, struct sampler_sizes *ret_sizes,
		 struct sample **ret, struct error *err);
/* Returns @code, and writes to @err why the program cannot be used. */
int sampler_load_explain(int code, struct error *err);
/* Returns the memory of all maps in the kernel. */
uint64_t sampler_load_bytes(const struct sample *skeleton);
