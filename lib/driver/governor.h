/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the cost of sampling below a share of each CPU's time: measures the cost of the samples
 * taken and computes how far the sampling period of each CPU must be stretched. The cost is that of
 * the interrupts, of the BPF program, and of the process that records the samples, divided among
 * CPUs by their number of samples. The governor reacts within a second; an overspend until then is
 * saved during the following seconds. It never samples a CPU more often than requested. It owns its
 * memory and borrows each look during the call.
 *
 *	struct governor *g = governor_new(0.005, 60, interrupt_cost_ns());
 *	governor_begin(g, &look);			sampling starts
 *	governor_look(g, &look, stretch, driver);	a few times a second
 *	governor_free(g);
 */
#pragma once

#include "base/macro.h"
#include "driver/driver.h"

struct governor;

/* The total cost up to a moment, counted from any fixed time in the past. */
struct governor_look {
	uint64_t now_ns; /* CLOCK_MONOTONIC */
	uint64_t own_ns; /* CPU time of this process */
	const struct driver_cost *costs;
	size_t count;
};

/* Shares of a CPU's time, over the last 10 to 20 seconds. */
struct governor_reading {
	double all;			 /* share of all CPUs' time */
	double interrupts, program, own; /* its parts */
	double worst;			 /* share on the costliest CPU */
	double stretch, highest;	 /* samples that each one now counts as: average, maximum */
	double interrupt_ns;		 /* assumed cost of an interrupt */
	uint64_t cost_ns, cost_of_ns;	 /* since the start: spent, of so much time of all CPUs */
	bool starting;			 /* some of the budget of the start is left */
	bool exceeded;			 /* a CPU exceeds its share even at the lowest rate */
};

/* Creates a governor that allows @share of each CPU's time (0: measures only), given that an
 * interrupt takes @interrupt_ns. The budget of the first @start_s seconds may be spent at once, so
 * that a short trial has all of its samples. Caller frees. */
struct governor *governor_new(double share, double start_s, double interrupt_ns);
/* Frees @g; accepts NULL. */
void governor_free(struct governor *g);
DEFINE_CLEANUP(struct governor *, governor_free);

/* Starts measuring at @look, when sampling starts; earlier cost is ignored. */
void governor_begin(struct governor *g, const struct governor_look *look);
/* Accounts for the cost since the last look and calls @stretch, which may be NULL, for each CPU
 * whose rate must change. If it fails, that CPU keeps its rate. */
void governor_look(struct governor *g, const struct governor_look *look,
		   int (*stretch)(struct driver *d, unsigned int cpu, uint32_t stretch),
		   struct driver *d);
/* Reports the current cost. */
void governor_read(const struct governor *g, struct governor_reading *ret);
