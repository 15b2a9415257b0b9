/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Explains why the kernel refused to open or enable an event (rights, limits, counters in use), and
 * names the remedy.
 *
 *	fd = perf_event_open_counting(&attrs, event, -1, 0);
 *	if (fd < 0)
 *		return perf_refusal_explain(&(struct perf_attempt){ root, false, "cannot count" },
 *					    fd, err);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* What was tried. */
struct perf_attempt {
	const char *root; /* prefix of /proc and /sys; borrowed */
	bool of_task;	  /* of one task, not of the whole machine */
	const char *step; /* what failed, for people; borrowed */
	bool of_probe;	  /* which no level of perf_event_paranoid allows */
};

/* Whether @code (-errno) means that the process lacks the right. */
bool perf_refusal(int code);
/* How to get the right to sample where kernel.perf_event_paranoid is @level. Caller frees. */
char *perf_refusal_right(uint64_t level);
/* Sets @err to the failed step, the reason @code (-errno) and the remedy; returns @code. */
int perf_refusal_explain(const struct perf_attempt *attempt, int code, struct error *err);
