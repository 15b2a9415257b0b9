/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What operf prints at the end of a profile: what was sampled and lost, and how to see it. All is
 * borrowed.
 *
 *	summary_print(&(struct summary){ .target = &target, .rate_hz = 997 }, collector);
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct collector;
struct target;

struct summary {
	const struct target *target;
	const char *session_dir; /* NULL: the default */
	unsigned int separate;	 /* enum record_separate */
	uint64_t rate_hz;	 /* of the clock */
	bool quiet;		 /* only what went wrong */
};

/* Prints it on standard error. */
void summary_print(const struct summary *s, const struct collector *c);
