/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate of samples and CPU use over the last 10 to 20 seconds, from marks that are set while the
 * daemon is awake anyway; and the longest time for which its loop did not wait, during which it
 * drained no buffer and answered nobody. A plain value: nothing to free.
 *
 *	meter_reset(&meter, samples);		at each start
 *	meter_tick(&meter, samples);		a few times a second
 *	meter_busy(&meter, since_ns);		after each event of the loop
 *	meter_read(&meter, samples, &reading);
 */
#pragma once

#include <stdint.h>

struct meter_mark {
	uint64_t at_ns;	  /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;  /* so far, of this process and of its parser's */
	uint64_t samples; /* received so far */
};

struct parser;

struct meter {
	struct parser *parser; /* its processes count too; or NULL */
	struct meter_mark older, newer;
	uint64_t reset_ns;   /* when it started over, CLOCK_MONOTONIC */
	uint64_t longest_ns; /* the longest that the loop was busy since then */
};

struct meter_reading {
	double samples_per_s;
	double cpu_percent; /* of one CPU */
	double longest_ms;  /* the longest that the loop was busy since the start */
};

/* Starts over without marks. */
void meter_reset(struct meter *meter, uint64_t samples);
/* Sets a mark if the last one is old enough. */
void meter_tick(struct meter *meter, uint64_t samples);
/* Notes that the loop was busy from @since_ns, or the reset, until now. */
void meter_busy(struct meter *meter, uint64_t since_ns);
/* Reads the rates from the older mark to now. */
void meter_read(const struct meter *meter, uint64_t samples, struct meter_reading *ret);
