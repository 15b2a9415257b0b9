/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows the progress of long work on a terminal: one line, which is overwritten as the work goes on
 * and erased at its end. It first appears when the work takes longer than people like to wait.
 *
 *	struct progress p;
 *	progress_init(&p, "opreport", tool_can_redraw(STDERR_FILENO) ? stderr : NULL);
 *	for (i = 0; i < n; i++)
 *		progress_show(&p, i, n, "images");
 *	progress_done(&p);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
	FILE *out; /* NULL: nothing is shown */
	const char *tool;
	int64_t started_ms, shown_ms;
	int64_t patience_ms, interval_ms; /* before the first line; between two lines */
	bool is_shown;
};

/* Starts the clock; @tool is borrowed. */
void progress_init(struct progress *p, const char *tool, FILE *out);
/* Shows that @done of @all @what ("images") are done, if it is time for another line. */
void progress_show(struct progress *p, size_t done, size_t all, const char *what);
/* Erases the line. */
void progress_done(struct progress *p);
