/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer to "status", as lines of "key value" for opcontrol to show (man oprofiled, STATUS). */
#pragma once

#include "base/strbuf.h"
#include "meter.h"

struct collector;
struct evderived;
struct settings;

struct status {
	const struct settings *settings;
	const struct evderived *derived; /* events of the extended feature */
	const struct collector *collector;
	const struct meter *meter;
	uint64_t born_ns;    /* when the daemon started, CLOCK_MONOTONIC */
	const char *trouble; /* the error that stopped sampling, or NULL */
};

/* Adds the lines; everything is borrowed for the call. */
void status_answer(const struct status *status, struct strbuf *answer);
