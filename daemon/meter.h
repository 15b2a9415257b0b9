/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate of samples and CPU use over the last 10 to 20 seconds, from marks that are set while the
 * daemon is awake anyway; and the turns of its loop. A plain value: nothing to free.
 *
 *	meter_reset(&meter, samples);		at each start
 *	meter_tick(&meter, samples);		a few times a second
 *	meter_read(&meter, samples, &reading);
 */
#pragma once

#include "stats/turn.h"

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
	struct turn turn; /* of the loop, which begins and ends them */
};

struct meter_reading {
	double samples_per_s;
	double cpu_percent; /* of one CPU */
};

/* Starts over without marks. */
void meter_reset(struct meter *meter, uint64_t samples);
/* Sets a mark if the last one is old enough. */
void meter_tick(struct meter *meter, uint64_t samples);
/* Reads the rates from the older mark to now. */
void meter_read(const struct meter *meter, uint64_t samples, struct meter_reading *ret);
