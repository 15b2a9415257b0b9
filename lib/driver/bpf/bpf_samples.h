/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sampling program counts, as words of the event buffer.
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

struct cgroups;
struct cookie_table;
struct sampler_chains;
struct sampler_images;

/* All that is pointed at is borrowed. */
struct bpf_samples {
	struct sampler_images *images;
	struct cookie_table *cookies;
	struct cgroups *cgroups;       /* NULL: nobody asks for them */
	struct sampler_chains *chains; /* NULL: no call chains are taken */
	struct evbuf *out;
	struct perf_cpuset *cpus;   /* to count chains that were cut */
	struct kernel_events codes; /* that samples to come may be older than */
	uint64_t now_ns;	    /* when the drain began */
	unsigned int offcpu; /* counter of time off the CPU, whose counts are no samples; UINT_MAX:
				none */
	uint64_t drained;    /* samples that came */
	uint64_t lost_no_path;	 /* of these, where nobody told the path of the file */
	uint64_t offcpu_no_path; /* likewise, of time off the CPU, how often */
};

/* Tells the event buffer of the code that had come into the kernel at @until_ns. */
void bpf_samples_let_come(struct bpf_samples *s, uint64_t until_ns);
/* Takes what comes out of the program into @s, which must stay where it is. */
struct sampler_handler bpf_samples_handler(struct bpf_samples *s);
