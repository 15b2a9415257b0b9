/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the process that records samples takes of the CPUs, told apart: what comes with each sample,
 * and what it takes anyway (new files and processes, unwind tables), which sampling more rarely
 * does not save. Samples are taken over in lumps, so it is measured over a second at a time.
 */
#pragma once

/*
 * The line through what was taken at different rates of samples, older ones forgotten: where it
 * begins is what is taken anyway.
 */
struct own_cost {
	/* Sums over the seconds behind us: their number, samples, time taken, both multiplied. */
	double n, x, y, xx, xy;
	double slope; /* seconds; 0: none yet */
	/* The second that is not over. */
	double ns, own_ns, samples;
	/* What was learned: share of a CPU; seconds. */
	double anyway, per_sample;
	double last; /* what the last second alone would make of per_sample */
};

/* Takes in that @samples and @own_ns of CPU time came up in @ns. */
void own_cost_add(struct own_cost *o, double ns, double own_ns, double samples);
