/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/window.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define MS_PER_S INT64_C(1000)

/* Farther away than any profile; keeps the arithmetic within 64 bits. */
#define SECONDS_MAX (UINT64_C(1) << 40)

/* A distance from UTC; zeroed, local time. */
struct zone {
	bool is_given;
	int east; /* seconds */
};

/* What a word for a time means: it lasts a second, a minute or a day. */
struct instant {
	int64_t begin_ms, end_ms;
	bool is_day;	/* as an end it includes that day */
	bool has_clock; /* it is a time of day without a date */
	bool is_past;	/* it is relative to now: alone, it reaches until now */
	struct zone zone;
};

/* What a time without a date, a zone or either depends on. */
struct context {
	int64_t now_ms;
	int64_t day_ms; /* in that day */
	struct zone zone;
	bool is_end; /* of a window */
};

static const struct unit {
	char letter;
	uint32_t seconds;
} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };

int64_t window_now_ms(void)
{
	return (int64_t)(clock_ns(CLOCK_REALTIME) / 1000000);
}

/* --- durations --- */

static const struct unit *unit_of(char letter)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (units[i].letter == (letter | 0x20)) /* ISO 8601 has capitals */
			return &units[i];
	return NULL;
}

int window_duration(const char *text, int64_t *ret_ms)
{
	const char *s = text;
	bool is_iso = *s == 'P', in_time = false;
	uint64_t value, sum = 0;

	s += is_iso;
	do {
		const struct unit *unit;

		if (is_iso && *s == 'T') {
			in_time = true;
			s++;
		}
		if (parse_dec(&s, &value) < 0 || !(unit = unit_of(*s)) || value > SECONDS_MAX)
			return -EINVAL;
		/* "M" before the "T" would be months, whose length varies. */
		if (is_iso && in_time != (unit->seconds < 86400))
			return -EINVAL;
		sum += value * unit->seconds;
		s++;
		if (sum > SECONDS_MAX)
			return -EINVAL;
	} while (*s);
	*ret_ms = (int64_t)sum * MS_PER_S;
	return 0;
}

/* --- instants --- */

static struct tm local_of(int64_t ms)
{
	time_t seconds = (time_t)(ms / MS_PER_S);
	struct tm tm;

	(void)localtime_r(&seconds, &tm);
	return tm;
}

/* Whether clocks show the same at both instants. */
static bool is_same_clock(int64_t ms, int64_t other_ms)
{
	struct tm a = local_of(ms), b = local_of(other_ms);

	return a.tm_mday == b.tm_mday && a.tm_hour == b.tm_hour && a.tm_min == b.tm_min;
}

/* The instant of local time @tm, @days later; with daylight saving as on that day. When clocks are
 * set back, they show some times twice: a window begins at the first one, and ends at the second,
 * so that it is all that the clocks showed. One that ends where these times begin ends there. */
static int64_t ms_of(struct tm tm, int days, bool is_end)
{
	static const int set_back_s[] = { 3600, 1800, 7200 };
	int64_t first, second;
	size_t i;

	tm.tm_mday += days;
	tm.tm_isdst = -1;
	first = second = (int64_t)mktime(&tm) * MS_PER_S;
	for (i = 0; i < ARRAY_SIZE(set_back_s) && first == second; i++) {
		const int64_t length = set_back_s[i] * MS_PER_S;

		if (is_same_clock(first, first - length))
			first -= length;
		else if (is_same_clock(second, second + length))
			second += length;
	}
	return is_end && is_same_clock(first - 1, second - 1) ? second : first;
}

/* The same time of day, @days later. */
static int64_t days_later(int64_t ms, int days, bool is_end)
{
	return ms_of(local_of(ms), days, is_end) + ms % MS_PER_S;
}

static struct instant day_of(struct tm tm, int days)
{
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	return (struct instant){ .begin_ms = ms_of(tm, days, false),
				 .end_ms = ms_of(tm, days + 1, false),
				 .is_day = true };
}

/* Parses @digits decimal digits, followed by @after unless that is NUL. */
static int parse_part(const char **s, int digits, char after, int max, int *ret)
{
	int value = 0, i;

	for (i = 0; i < digits; i++, (*s)++) {
		if (**s < '0' || **s > '9')
			return -EINVAL;
		value = value * 10 + (**s - '0');
	}
	if (value > max || (after && **s != after))
		return -EINVAL;
	*s += after != '\0';
	*ret = value;
	return 0;
}

/* Parses "2026-11-20". */
static int parse_date(const char **s, struct tm *tm)
{
	int year, month, day;

	struct tm date = { 0 };

	if (parse_part(s, 4, '-', 9999, &year) < 0 || parse_part(s, 2, '-', 12, &month) < 0 ||
	    parse_part(s, 2, '\0', 31, &day) < 0 || year < 1970 || !month || !day)
		return -EINVAL;
	date.tm_year = tm->tm_year = year - 1900;
	date.tm_mon = tm->tm_mon = month - 1;
	date.tm_mday = tm->tm_mday = day;
	(void)timegm(&date); /* makes the 1st of March of the 29th of February */
	return date.tm_mday == day ? 0 : -EINVAL;
}

/* A part of a minute, in milliseconds: where it begins, and how much of it was named. */
struct fine {
	int begin_ms, length_ms;
};

/* Parses "14:00", "14:00:30" or "14:00:30.250". */
static int parse_clock(const char **s, struct tm *tm, struct fine *ret)
{
	*ret = (struct fine){ .length_ms = 60000 };
	tm->tm_sec = 0;
	if (parse_part(s, 2, ':', 23, &tm->tm_hour) < 0 ||
	    parse_part(s, 2, '\0', 59, &tm->tm_min) < 0)
		return -EINVAL;
	if (**s != ':')
		return 0;
	(*s)++;
	ret->length_ms = 1000;
	if (parse_part(s, 2, '\0', 60, &tm->tm_sec) < 0)
		return -EINVAL;
	if (**s != '.')
		return 0;
	(*s)++;
	ret->length_ms = 1;
	return parse_part(s, 3, '\0', 999, &ret->begin_ms);
}

/* Parses "Z", "+01:00", "+0100" or "+01". */
static int parse_zone(const char *s, struct zone *ret)
{
	int sign = *s == '-' ? -1 : 1, hours, minutes = 0;

	*ret = (struct zone){ .is_given = true };
	if (!strcmp(s, "Z"))
		return 0;
	if ((*s != '+' && *s != '-') || (s++, parse_part(&s, 2, '\0', 14, &hours) < 0))
		return -EINVAL;
	s += *s == ':';
	if (*s && (parse_part(&s, 2, '\0', 59, &minutes) < 0 || *s))
		return -EINVAL;
	ret->east = sign * (hours * 3600 + minutes * 60);
	return 0;
}

/* The instant of the time @tm in a zone. */
static int64_t ms_in_zone(struct tm tm, struct zone zone, bool is_end)
{
	return zone.is_given ? ((int64_t)timegm(&tm) - zone.east) * MS_PER_S : ms_of(tm, 0, is_end);
}

/* The date in a zone at an instant. */
static struct tm date_in_zone(int64_t ms, struct zone zone)
{
	time_t seconds = (time_t)(ms / MS_PER_S) + zone.east;
	struct tm tm;

	(void)(zone.is_given ? gmtime_r : localtime_r)(&seconds, &tm);
	return tm;
}

/* Parses "2026-11-20", "2026-11-20T14:00", "14:00:30.250", each with a zone if it has a clock. */
static int parse_calendar(const char *s, const struct context *c, struct instant *ret)
{
	bool has_date = strlen(s) > 4 && s[4] == '-';
	struct tm clock = { 0 }, tm = { 0 };
	struct fine fine;

	if (has_date && parse_date(&s, &tm) < 0)
		return -EINVAL;
	if (has_date && !*s) {
		*ret = day_of(tm, 0);
		return 0;
	}
	if ((has_date && *s != 'T' && *s != ' ') || (s += has_date, *s == '\0') ||
	    parse_clock(&s, &clock, &fine) < 0)
		return -EINVAL;
	ret->zone = c->zone;
	if (!has_date && *s == '-' && strchr(s, ':')) /* "14:00-14:05" is not in a zone */
		return -EINVAL;
	if (*s && parse_zone(s, &ret->zone) < 0)
		return -EINVAL;
	if (!has_date)
		tm = date_in_zone(c->day_ms, ret->zone);
	tm.tm_hour = clock.tm_hour;
	tm.tm_min = clock.tm_min;
	tm.tm_sec = clock.tm_sec;
	ret->has_clock = !has_date;
	ret->begin_ms = ms_in_zone(tm, ret->zone, c->is_end) + fine.begin_ms;
	ret->end_ms = ret->begin_ms + fine.length_ms;
	return 0;
}

/* Parses one time. */
static int parse_instant(const char *s, const struct context *c, struct instant *ret)
{
	uint64_t seconds;
	int64_t ago;

	*ret = (struct instant){ .begin_ms = c->now_ms, .end_ms = c->now_ms };
	if (!strcmp(s, "now"))
		return 0;
	if (!strcmp(s, "today") || !strcmp(s, "yesterday")) {
		*ret = day_of(local_of(c->now_ms), *s == 'y' ? -1 : 0);
		return 0;
	}
	if (*s == '-') {
		if (window_duration(s + 1, &ago) < 0)
			return -EINVAL;
		ret->begin_ms -= ago;
		ret->is_past = true;
		return 0;
	}
	if (*s == '@') {
		if (parse_u64(s + 1, 0, SECONDS_MAX, &seconds) < 0)
			return -EINVAL;
		ret->begin_ms = (int64_t)seconds * MS_PER_S;
		ret->end_ms = ret->begin_ms + MS_PER_S;
		return 0;
	}
	return parse_calendar(s, c, ret);
}

/* The same time of day in the zone of @at, @days later. */
static int64_t days_after(const struct instant *at, int64_t ms, int days, bool is_end)
{
	return at->zone.is_given ? ms + days * INT64_C(86400) * MS_PER_S
				 : days_later(ms, days, is_end);
}

/* Parses a time, with which a window begins or ends: a clock without a date is the last time that
 * it was so late. */
static int parse_last(const char *s, int64_t now_ms, bool is_end, struct instant *ret)
{
	struct context c = { .now_ms = now_ms, .day_ms = now_ms, .is_end = is_end };
	int r = parse_instant(s, &c, ret);
	int64_t length;

	c.is_end = false; /* clocks may have shown it, and be about to show it again */
	if (r == 0 && is_end && ret->has_clock && ret->begin_ms > now_ms)
		r = parse_instant(s, &c, ret);
	length = ret->end_ms - ret->begin_ms;
	if (r < 0 || !ret->has_clock || ret->begin_ms <= now_ms)
		return r;
	ret->begin_ms = days_after(ret, ret->begin_ms, -1, is_end);
	ret->end_ms = ret->begin_ms + length;
	return 0;
}

/* --- text --- */

static void add_time(struct strbuf *out, int64_t ms, const char *format)
{
	struct tm tm = local_of(ms);
	char text[64];

	(void)strftime(text, sizeof(text), format, &tm);
	strbuf_adds(out, text);
}

char *window_time(int64_t ms)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	size_t minutes; /* where those of the zone are: "+0100" */

	add_time(&out, ms, "%Y-%m-%dT%H:%M:%S%z");
	minutes = out.length - 2;
	return xasprintf("%.*s:%s", (int)minutes, strbuf_text(&out), strbuf_text(&out) + minutes);
}

/* --- begin and end --- */

/* Says what became of the end of "14:05..14:00", which may have been meant the other way round. */
static void warn_future(const char *end, int64_t ms)
{
	_cleanup_free_ char *time = window_time(ms);

	log_warn("%s, the end of a time, is before its begin, so it is that of the next day: %s",
		 end, time);
}

/* Parses the time that a window ends at, which began at @begin, NULL if it has no begin: a clock
 * without a date is the first time after that. It has the zone of the begin unless it has one. */
static int parse_end(const char *s, int64_t now_ms, const struct instant *begin, int64_t *ret)
{
	const struct context c = { .now_ms = now_ms,
				   .day_ms = begin ? begin->begin_ms : now_ms,
				   .zone = begin ? begin->zone : (struct zone){ 0 },
				   .is_end = true };
	struct instant at;

	if ((begin ? parse_instant(s, &c, &at) : parse_last(s, now_ms, true, &at)) < 0)
		return -EINVAL;
	*ret = at.is_day ? at.end_ms : at.begin_ms;
	if (!at.has_clock || !begin || *ret > begin->begin_ms)
		return 0;
	*ret = days_after(&at, *ret, 1, true);
	if (*ret > now_ms)
		warn_future(s, *ret);
	return 0;
}

/* --- windows --- */

/* Parses "A..B", where either may be missing. */
static int parse_range(char *from, char *to, int64_t now_ms, struct window *ret)
{
	struct instant begin = { .begin_ms = INT64_MIN };

	*ret = WINDOW_ALL;
	if (*from && parse_last(from, now_ms, false, &begin) < 0)
		return -EINVAL;
	ret->begin_ms = begin.begin_ms;
	return *to ? parse_end(to, now_ms, *from ? &begin : NULL, &ret->end_ms) : 0;
}

static int parse_parts(char *text, int64_t now_ms, struct window *ret)
{
	char *dots = strstr(text, ".."), *slash = strchr(text, '/');
	struct instant at;
	int64_t length;

	if (dots) {
		*dots = '\0';
		return parse_range(text, dots + 2, now_ms, ret);
	}
	if (slash)
		*slash = '\0';
	if (parse_last(text, now_ms, false, &at) < 0 ||
	    (slash && window_duration(slash + 1, &length) < 0))
		return -EINVAL;
	ret->begin_ms = at.begin_ms;
	ret->end_ms = slash ? at.begin_ms + length : at.is_past ? now_ms : at.end_ms;
	return 0;
}

int window_parse(const char *text, int64_t now_ms, struct window *ret, struct error *err)
{
	_cleanup_free_ char *copy = xstrdup(text);

	if (parse_parts(copy, now_ms, ret) < 0)
		return error_set(err, -EINVAL,
				 "'%s' is not a time; write for example -10m, 14:00..14:05, "
				 "yesterday, 2026-11-20, 2026-11-20T14:00Z/PT5M",
				 text);
	if (ret->begin_ms >= ret->end_ms)
		return error_set(err, -EINVAL, "'%s' %s", text,
				 ret->begin_ms > ret->end_ms ? "ends before it begins"
							     : "is no time at all");
	return 0;
}

char *window_text(const struct window *w)
{
	struct strbuf out = STRBUF_INIT;
	bool has_begin = w->begin_ms != INT64_MIN, has_end = w->end_ms != INT64_MAX;
	struct tm begin = local_of(has_begin ? w->begin_ms : w->end_ms),
		  end = local_of(has_end ? w->end_ms : w->begin_ms);
	bool is_one_zone = begin.tm_gmtoff == end.tm_gmtoff; /* not if the clocks are changed */
	bool same_day = begin.tm_year == end.tm_year && begin.tm_yday == end.tm_yday && is_one_zone;

	if (has_begin)
		add_time(&out, w->begin_ms,
			 is_one_zone ? "%Y-%m-%d %H:%M:%S " : "%Y-%m-%d %H:%M:%S %z ");
	strbuf_adds(&out, "..");
	if (has_end)
		add_time(&out, w->end_ms,
			 has_begin && same_day ? " %H:%M:%S" : " %Y-%m-%d %H:%M:%S");
	if (has_begin || has_end)
		add_time(&out, has_end ? w->end_ms : w->begin_ms, " %z");
	return strbuf_take(&out);
}
