/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds what sampling costs below a share of each CPU's time: measures the cost of the samples that
 * came, and says how far the rate of each CPU must be stretched. The cost is that of the
 * interrupts, of the program in the kernel, and of the process that records the samples, shared out
 * by their number. It follows within a second; what was spent too much before it did is saved
 * within the next ones. A CPU is never sampled more often than was asked for.
 *
 *	struct governor *g = governor_new(0.005, interrupt_cost_ns());
 *	governor_begin(g, &look);			sampling starts
 *	governor_look(g, &look, stretch, driver);	a few times a second
 *	governor_free(g);
 */
#pragma once

#include "base/macro.h"
#include "driver/driver.h"

struct governor;

/* What was spent up to a moment, all of it since any time in the past. */
struct governor_look {
	uint64_t now_ns; /* CLOCK_MONOTONIC */
	uint64_t own_ns; /* CPU time of this process */
	const struct driver_cost *costs;
	size_t count;
};

/* Shares of a CPU's time, over the last 10 to 20 seconds. */
struct governor_reading {
	double all;			 /* of all CPUs' time */
	double interrupts, program, own; /* parts of it */
	double worst;			 /* of the CPU that costs the most */
	double stretch, highest;	 /* samples that one stands for now: on average, at most */
	double interrupt_ns;		 /* that an interrupt is taken to cost */
	bool exceeded; /* a CPU costs more than its share although it is sampled as rarely as can be
			*/
};

/* Keeps to @share of each CPU's time (0: measures only), where an interrupt takes @interrupt_ns.
 * Caller frees. */
struct governor *governor_new(double share, double interrupt_ns);
/* NULL is fine. */
void governor_free(struct governor *g);
DEFINE_CLEANUP(struct governor *, governor_free);

/* Forgets what was spent before: sampling begins. */
void governor_begin(struct governor *g, const struct governor_look *look);
/* Takes in what was spent, and has @stretch, which may be NULL, called for those CPUs whose rate
 * must change; what it refuses stays as it is. */
void governor_look(struct governor *g, const struct governor_look *look,
		   int (*stretch)(struct driver *d, unsigned int cpu, uint32_t stretch),
		   struct driver *d);
/* What it costs. */
void governor_read(const struct governor *g, struct governor_reading *ret);
