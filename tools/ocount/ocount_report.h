/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the counts of one interval: a table for people, lines of comma-separated values, or one
 * JSON object per line. Everything is borrowed.
 *
 *	struct ocount_report report = { .title = "true", .labels = labels, .event_count = 2, ... };
 *	ocount_report_print(&report, OCOUNT_TABLE, stdout);
 */
#pragma once

#include "perf/counting.h"

#include <stdio.h>

enum ocount_axis { OCOUNT_TOGETHER, OCOUNT_BY_CPU, OCOUNT_BY_THREAD, OCOUNT_AXIS_COUNT_ };
enum ocount_format { OCOUNT_TABLE, OCOUNT_BRIEF, OCOUNT_JSON, OCOUNT_FORMAT_COUNT_ };

struct ocount_report {
	const char *title; /* what was counted: "ls -l", "the whole system" */
	char *const *labels;
	const char *const *why_not; /* by event: why it does not count; NULL: it does */
	size_t event_count;
	enum ocount_axis axis;
	const int *numbers;		 /* by row: its CPU or thread */
	size_t row_count;		 /* 1 unless there is an axis */
	const struct counting_sum *sums; /* [row * event_count + event] */
	bool watchdog;			 /* the kernel's NMI watchdog holds a counter */
	uint64_t elapsed_ns;
	uint64_t at_ns; /* end of the interval since the epoch; 0: no intervals */
};

/* Adds the counts of all places into the rows of @sums, which are the places or, for
 * OCOUNT_TOGETHER, one. */
void ocount_report_sum(const struct counting_value *values, size_t place_count, size_t event_count,
		       enum ocount_axis axis, struct counting_sum *sums);

/* Prints @report. The caller checks @out for errors. */
void ocount_report_print(const struct ocount_report *report, enum ocount_format format, FILE *out);
