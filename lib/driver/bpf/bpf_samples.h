/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the samples counted by the BPF sampling program to the event buffer. The caller owns the
 * structure and everything that it points to.
 *
 *	struct bpf_samples s = { .images = images, .cookies = cookies, .out = out, .cpus = cpus };
 *	const struct sampler_handler handler = bpf_samples_handler(&s);
 *	s.now_ns = now;
 *	sampler_drain(sampler, &handler);
 */
#pragma once

#include "stream/evbuf.h"
#include "perf/kernel_events.h"
#include "driver/perf_cpuset.h"
#include "driver/bpf/sampler.h"
#include "stats/counters.h"

struct cgroups;
struct cookie_table;
struct sampler_chains;
struct sampler_functions;
struct sampler_images;

/* All pointers are borrowed. */
struct bpf_samples {
	struct sampler_images *images;
	struct cookie_table *cookies;
	struct cgroups *cgroups;       /* NULL: do not record cgroups */
	bool comms;		       /* record the names of threads */
	struct sampler_chains *chains; /* NULL: no call chains, like: */
	struct sampler_functions *functions;
	struct evbuf *out;
	struct perf_cpuset *cpus;   /* counts truncated chains */
	struct kernel_events codes; /* kernel code that later samples may predate */
	uint64_t now_ns;	    /* when the drain began */
	unsigned int offcpu;	    /* first counter of microseconds off the CPU; UINT_MAX: none */
	uint64_t drained;	    /* samples received */
	uint64_t lost_no_path;	    /* of these, samples whose file's path is unknown */
	uint64_t offcpu_no_path;    /* the same for intervals off the CPU */
};

/* Reports to the event buffer the code loaded into the kernel up to @until_ns. */
void bpf_samples_let_come(struct bpf_samples *s, uint64_t until_ns);
/* Prepares for call chains of @sampler, which is borrowed; close undoes that. */
void bpf_samples_open_chains(struct bpf_samples *s, struct sampler *sampler);
void bpf_samples_close_chains(struct bpf_samples *s);
/* Stores in @s what the programs of all slots have counted of interpreted frames. */
void bpf_samples_count_scripts(const struct sampler *sampler, struct driver_stats *s);
/* A handler that passes the program's output to @s, which must not move. */
struct sampler_handler bpf_samples_handler(struct bpf_samples *s);
