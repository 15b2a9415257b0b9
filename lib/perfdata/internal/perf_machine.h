/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a directory that looks to the recorder like the root of the machine that a perf.data
 * describes: its /proc has the CPU, the name, the kernel and its symbols. These come from the cache
 * of perf(1), or from this machine if it runs the same kernel.
 *
 *	perf_machine_write(file, "/root/.debug", root, &kernel, err);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct perf_file;

/* What is known of the kernel. */
struct perf_machine_kernel {
	bool has_symbols; /* and addresses: samples in it get names */
	bool is_own;	  /* this machine runs the same build of it */
};

/* Writes the files below the existing directory @root; @cache may be NULL. 0 or -errno. */
int perf_machine_write(const struct perf_file *file, const char *cache, const char *root,
		       struct perf_machine_kernel *ret, struct error *err);
