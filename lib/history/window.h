/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A window of time as a person writes it (man opreport.1, "time:"):
 *
 *	-10m			the last ten minutes
 *	14:00..14:05		of today, or of yesterday if that is yet to come
 *	yesterday		from midnight to midnight, local time
 *	2026-11-20T14:00Z/PT5M	five minutes from then on
 *
 * Times without a zone are local times (tzset(3)).
 *
 *	struct window w;
 *	if (window_parse("-2h..-1h", window_now_ms(), &w, err) == 0)
 *		printf("%s\n", window_text(&w));
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

#include <stdbool.h>
#include <stdint.h>

/* Milliseconds since 1970, UTC (CLOCK_REALTIME); ->end_ms is the first one after the window. */
struct window {
	int64_t begin_ms, end_ms;
};

/* The window that contains everything. */
#define WINDOW_ALL ((struct window){ INT64_MIN, INT64_MAX })

/* Parses @text; times are relative to @now_ms. 0 or -EINVAL, also for a window without an instant
 * in it. */
int window_parse(const char *text, int64_t now_ms, struct window *ret, struct error *err);
/* Parses a length of time: "90s", "1h30m", "7d", "2weeks", "5min", or as in ISO 8601: "PT5M",
 * "P1DT12H". 0 or -EINVAL. */
int window_duration(const char *text, int64_t *ret_ms);
/* The time of day. */
int64_t window_now_ms(void);
/* Whether the windows have an instant in common. */
static inline bool window_overlaps(const struct window *a, const struct window *b)
{
	return a->begin_ms < b->end_ms && b->begin_ms < a->end_ms;
}
/* The instants that are in both; none if it does not end after its begin. */
static inline struct window window_shared(const struct window *a, const struct window *b)
{
	return (struct window){ MAX(a->begin_ms, b->begin_ms), MIN(a->end_ms, b->end_ms) };
}
/* The window as "2026-11-20 14:00:00 .. 14:05:00 +0100", in local time; the caller frees. A side
 * that is open is left out. */
char *window_text(const struct window *w);
/* A time as in ISO 8601, to the second: "2026-11-20T14:00:00+01:00", in local time; the caller
 * frees. */
char *window_time(int64_t ms);
