/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has the BPF program sample some processes and their descendants only. The structure and the list
 * in it are the caller's.
 *
 *	struct bpf_follow follow = { .pid = 4711 };
 *	bpf_follow_start(&follow, sampler, &err);
 */
#pragma once

#include "base/error.h"
#include "driver/bpf/sampler.h"

#include <sys/types.h>

struct bpf_follow {
	pid_t pid;	     /* 0: all processes */
	const pid_t *others; /* further ones, borrowed */
	size_t other_count;
	bool await_exec; /* ->pid is sampled from its next exec on */
};

/* Names the processes and their descendants to the program; 0 or -errno. The next call awaits no
 * exec. */
int bpf_follow_start(struct bpf_follow *f, struct sampler *sampler, struct error *err);
