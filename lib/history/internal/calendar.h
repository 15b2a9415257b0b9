/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dates and times of day as a person writes them, and the instants that they mean, in milliseconds
 * since 1970.
 *
 *	const char *s = "14:00:30.250";
 *	struct tm tm = calendar_local(window_now_ms());
 *	struct calendar_fine fine;
 *	if (calendar_parse_clock(&s, &tm, &fine) == 0)
 *		begin_ms = calendar_ms(tm, 0, false) + fine.begin_ms;
 *
 * Times are local unless there is a zone (tzset(3)).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* A distance from UTC; zeroed, local time. */
struct calendar_zone {
	bool is_given;
	int east; /* seconds */
};

/* A part of a minute, in milliseconds: where it begins, and how much of it was named. */
struct calendar_fine {
	int begin_ms, length_ms;
};

/* What clocks and calendars show at an instant. */
struct tm calendar_local(int64_t ms);
/* The same in a zone. */
struct tm calendar_date(int64_t ms, struct calendar_zone zone);

/* The instant of local time @tm, @days later; with daylight saving as on that day. When clocks are
 * set back, they show some times twice: a window begins at the first one, and ends at the second,
 * so that it is all that the clocks showed. One that ends where these times begin ends there. Times
 * that clocks skip, as they are set forward, are the instant at which that is done. */
int64_t calendar_ms(struct tm tm, int days, bool is_end);
/* Whether clocks skip local time @tm. */
bool calendar_is_skipped(struct tm tm);
/* The instant of the time @tm in a zone. */
int64_t calendar_ms_in_zone(struct tm tm, struct calendar_zone zone, bool is_end);
/* The same local time of day, @days later. */
int64_t calendar_days_later(int64_t ms, int days);

/* Parses "2026-11-20" at *@s; moves *@s past it. 0 or -EINVAL. */
int calendar_parse_date(const char **s, struct tm *tm);
/* Parses "14:00", "1:24", "14:00:30" or "14:00:30.250"; "24:00" is the end of the day, so that
 * tm->tm_hour may be 24. The same. */
int calendar_parse_clock(const char **s, struct tm *tm, struct calendar_fine *ret);
/* Parses the rest of a second, ".5" to ".123456789", or nothing; digits after the third are
 * ignored. The same. */
int calendar_parse_fraction(const char **s, struct calendar_fine *ret);
/* Parses all of "Z", "+01:00", "+0100" or "+01". 0 or -EINVAL. */
int calendar_parse_zone(const char *s, struct calendar_zone *ret);
