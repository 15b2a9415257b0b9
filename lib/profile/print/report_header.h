/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands above a report: the CPU or clock, the events, and what was lost while sampling, so
 * that no report looks better than its data.
 *
 *	struct losses losses;
 *	losses_collect(gather, &losses);
 *	report_header_text(&report, &losses, stdout);
 *	losses_done(&losses);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct gather;
struct report;

/* One counter of the sessions' stats/ that says something was lost. */
struct loss {
	char *name; /* of the counter */
	uint64_t value;
	const char *meaning; /* in words */
	bool is_samples;     /* counts samples, of which a share can be told */
};

struct losses {
	struct loss *list;
	size_t count, room;
	uint64_t samples;	      /* lost, of all kinds */
	uint64_t recorded;	      /* by the sessions' own account; 0: they do not say */
	uint64_t received, stretched; /* what samples stand for, and what of that was not taken */
};

/* Reads the counters of all sessions of @g; the caller calls losses_done(). */
void losses_collect(const struct gather *g, struct losses *ret);
/* What a sample of the sessions stands for on average, as far as they say; at least 1. */
double losses_weight(const struct losses *l);
/* Frees what losses_collect() allocated. */
void losses_done(struct losses *l);
/* Whether a counter of this name (without "cpuN/") is known to mean a loss, or to mean none. */
bool losses_knows(const char *name);

/* The rate of the clock in timer mode, by the setup of the first session; 0 if not known. */
uint64_t report_header_timer_hz(const struct gather *g);
/* "CPU: NAME, speed 2596.1 MHz (estimated)"; caller frees. */
char *report_header_cpu(const struct report *r);
/* What was counted in a class: "Counted CPU_CLK_UNHALTED events (...) ..."; caller frees. */
char *report_header_class(const struct report *r, size_t class);
/* Prints the header's lines. */
void report_header_text(const struct report *r, const struct losses *l, FILE *out);
