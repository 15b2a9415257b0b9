/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was lost while the sessions of a report were sampled: the counters in their stats/ of kind
 * COUNTER_LOST or COUNTER_TROUBLE (stats/counters.h), summed over the sessions.
 *
 *	struct losses losses;
 *	losses_collect(gather, &losses);
 *	report_header_text(&report, stdout);
 *	losses_done(&losses);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct classes;
struct container;
struct gather;

/* What a host has of a loss. */
struct loss_part {
	const char *host; /* the gather's, or "unknown" */
	uint64_t value;
};

/* A counter that is not zero. */
struct loss {
	char *name; /* in stats/ */
	uint64_t value;
	char *meaning;	 /* in words */
	bool is_samples; /* counts samples that are missing, so that their share can be given */
	/* If sessions are of archives, what each host has of it, the most first. */
	struct loss_part *parts;
	size_t part_count, part_room;
};

struct losses {
	struct loss *list;
	size_t count, room;
	uint64_t samples;  /* sum of missing samples */
	uint64_t recorded; /* as counted by the sessions; 0 if they do not count */
	uint64_t received,
		stretched; /* number of samples represented, and the part of them not taken */
	uint64_t cost_ns, cost_of_ns; /* CPU time of sampling, of so much of all CPUs; 0: unknown */
};

/* Reads the counters of all sessions of @g; the caller calls losses_done(). */
void losses_collect(const struct gather *g, struct losses *ret);
/* The average number of samples that one sample of the sessions represents; 1 if unknown. */
double losses_weight(const struct losses *l);
/* The sum of the squares of the waits that @event of the sessions counts, in microseconds, as in
 * struct statistics_noise: 0 if it counts none, HUGE_VAL if a session does not say. */
double losses_wait_squares(const struct gather *g, const char *event);
/* Sets how much the counts of @rows, whose classes are @classes, vary by what the sessions say of
 * single samples. */
void losses_set_noise(const struct losses *l, const struct gather *g, const struct classes *classes,
		      struct container *rows);
/* Frees what losses_collect() allocated. */
void losses_done(struct losses *l);
