/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row of a timeline as a row of bars, one character for each step of time. A bar is as high as
 * the rate of samples in its step, relative to the highest one of the row.
 *
 *	printf("%.1f samples/s at the peak\n", timeline_peak(timeline, row->counts));
 *	timeline_bars(timeline, row->counts, true, &line);
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct strbuf;
struct timeline;

/* Characters that bars, and the times above them, need. */
unsigned int timeline_bars_width(const struct timeline *t);
/* The highest rate of a step, in samples per second. */
double timeline_peak(const struct timeline *t, const uint64_t *counts);
/* Adds the bars; with @utf8, block elements of Unicode. */
void timeline_bars(const struct timeline *t, const uint64_t *counts, bool utf8, struct strbuf *out);
/* Adds the times above the bars. */
void timeline_axis(const struct timeline *t, struct strbuf *out);
/* The character for a step in which nothing was recorded. Static. */
const char *timeline_gap(bool utf8);
