/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why the kernel refuses to open or enable an event, and what helps: rights, limits, counters that
 * are taken.
 *
 *	fd = perf_event_open_counting(&attrs, event, -1, 0);
 *	if (fd < 0)
 *		return perf_refusal_explain(&(struct perf_attempt){ root, false, "cannot count" },
 *					    fd, err);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* What was tried. */
struct perf_attempt {
	const char *root; /* the machine's /proc and /sys are below it; borrowed */
	bool of_task;	  /* for one task, not for the whole machine */
	const char *step; /* what failed, for people; borrowed */
};

/* Whether @code (-errno) means that the process lacks the right. */
bool perf_refusal(int code);
/* Says in @err that the attempt failed with @code (-errno), and what helps; returns @code. */
int perf_refusal_explain(const struct perf_attempt *attempt, int code, struct error *err);
