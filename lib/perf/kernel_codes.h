/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that came into the kernel, kept back until the samples that are older have been handed on:
 * what was at an address before is still called by its own name then. The caller owns it.
 *
 *	struct kernel_codes codes = { 0 };
 *	kernel_codes_add(&codes, &code);
 *	epoch = kernel_codes_epoch(&codes, at_ns);	samples are sorted by it
 *	while (kernel_codes_take(&codes, at_ns, &code))	before each sample
 *		...
 *	kernel_codes_done(&codes);
 */
#pragma once

#include "perf/modules.h"

#include <stddef.h>

struct kernel_codes {
	struct kernel_code *codes; /* by time */
	size_t count, room;
	size_t taken; /* of them, the first */
};

/* Keeps @code, whose cookie must stay. */
void kernel_codes_add(struct kernel_codes *c, const struct kernel_code *code);
/* How many of those that are kept had come at @at_ns. */
uint32_t kernel_codes_epoch(const struct kernel_codes *c, uint64_t at_ns);
/* Takes the first that had come at @until_ns; false if there is none. */
bool kernel_codes_take(struct kernel_codes *c, uint64_t until_ns, struct kernel_code *ret);
/* Frees what it holds. */
void kernel_codes_done(struct kernel_codes *c);
