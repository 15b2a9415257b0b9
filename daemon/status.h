/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer to "status", as lines of "key value" for opcontrol to show (man oprofiled, STATUS). */
#pragma once

#include "base/strbuf.h"
#include "meter.h"

#include <stdbool.h>

struct collector;
struct evderived;
struct settings;

struct status {
	const struct settings *settings;
	const struct evderived *derived; /* events of the extended feature */
	const struct collector *collector;
	const struct meter *meter;
	const char *trouble; /* the error that stopped sampling, or NULL */
};

/* Adds the lines that only the main loop knows; everything is borrowed for the call. */
void status_answer(const struct status *status, struct strbuf *answer);

/* What the other lines need; times of CLOCK_MONOTONIC. */
struct status_now {
	uint64_t now_ns, born_ns;
	uint64_t at_ns; /* when status_answer() was called */
	bool running;
	uint64_t other_bytes; /* memory of the parser and in the kernel */
};

/* Adds the lines that any thread knows; and how old those of status_answer() are if the daemon
 * samples and they are older than a second. */
void status_answer_now(const struct status_now *now, struct strbuf *answer);
