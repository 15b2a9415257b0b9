/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets a sampling period wander at random: once per second in the beginning, and later every eight
 * seconds, as a change interrupts the CPU. A constant one may be in step with a program: one that
 * works a thousand times a second, sampled as often, is always seen in the same part of its work.
 * The rate is some percent higher for a while and then as much lower, so the number of samples
 * stays right: what each sample counts for does not change.
 *
 *	wander_init(&w, chance);
 *	period = 1e6 * w.factor;
 *	if (wander_is_due(&w, now_ns, samples))		since the last change
 *		wander_change(&w, now_ns, samples);
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How far a rate is from the requested one, in percent: at least, so that two clocks of the same
 * rate are never in step, and at most. */
enum { WANDER_LEAST = 1, WANDER_MOST = 3 };

struct wander {
	double factor;	   /* the period is so many times the one requested */
	double offset;	   /* the rate is so much more, of 1 */
	bool is_second;	   /* the offset before was the opposite */
	uint64_t since_ns; /* CLOCK_MONOTONIC; 0: from the start of sampling on */
	uint64_t least_ns; /* until the next change */
	uint64_t chance;   /* state of a simple random generator */
};

/* Chooses the first factor; @chance is any number. */
void wander_init(struct wander *w, uint64_t chance);
/* Whether the period should change, after so many @samples with the last one. */
bool wander_is_due(const struct wander *w, uint64_t now_ns, double samples);
/* Changes the factor. A new period begins at once, so the part of the old one that is over gets no
 * sample: on average a half, which the factor makes up for. */
void wander_change(struct wander *w, uint64_t now_ns, double samples);
