/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has the BPF program sample some processes and their descendants only. The structure and the list
 * in it are the caller's.
 *
 *	struct bpf_follow follow = { .pid = 4711 };
 *	bpf_follow_start(&follow, sampler, &err);
 *	bpf_follow_done(&follow);
 */
#pragma once

#include "base/error.h"
#include "driver/bpf/sampler.h"
#include "process/process_asked.h"

#include <sys/types.h>

struct bpf_follow {
	pid_t pid;	     /* 0: all processes */
	const pid_t *others; /* further ones, borrowed */
	size_t other_count;
	bool await_exec;	    /* ->pid is sampled from its next exec on */
	struct process_asked asked; /* all of them, as they were at the first start */
};

/* Names the processes, as far as they are still the same, and their descendants to the program; 0
 * or -errno. The next call awaits no exec. */
int bpf_follow_start(struct bpf_follow *f, struct sampler *sampler, struct error *err);
/* Frees what the first start noted. */
void bpf_follow_done(struct bpf_follow *f);
