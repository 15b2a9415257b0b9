/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comings and goings of kernel modules and of other code in the kernel. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cookie_table;
struct perf_record;

/* Code that came into the kernel: a BPF program, a trampoline, a page of kprobes. */
struct kernel_code {
	uint64_t at_ns;		/* CLOCK_MONOTONIC; it has not run before */
	uint64_t start, length; /* bytes */
	uint64_t cookie;	/* of its name */
};

/* What a record says of code in the kernel. */
enum modules_news {
	MODULES_NOTHING,
	MODULES_LOOK, /* the kernel's lists are to be read again: records were lost, or all else */
	MODULES_CODE, /* what came is told, as it may be gone when somebody looks */
};

/* Whether modules came or went since the last call with the same *@count, which is 0 at first.
 * Modules make no record; the number of their directories shows most changes. */
bool modules_changed(const char *root, uint64_t *count);
/* What @r says; of MODULES_CODE, what came is in *@ret. */
enum modules_news modules_record(const struct perf_record *r, struct cookie_table *cookies,
				 struct kernel_code *ret);
