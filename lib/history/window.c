/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/window.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "history/internal/calendar.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define MS_PER_S INT64_C(1000)

/* Farther away than any profile; keeps the arithmetic within 64 bits. */
#define SECONDS_MAX (UINT64_C(1) << 40)

/* What a word for a time means: it lasts a second, a minute or a day. */
struct instant {
	int64_t begin_ms, end_ms;
	bool is_day;	 /* as an end it includes that day */
	bool has_clock;	 /* it is a time of day without a date */
	bool is_past;	 /* it is relative to now: alone, it reaches until now */
	bool is_skipped; /* clocks skip it: it is when they were set forward, without length */
	int64_t shown_s; /* what was written, in seconds, as if it were UTC; 0 without a clock */
	struct calendar_zone zone;
};

/* What a time without a date, a zone or either depends on. */
struct context {
	int64_t now_ms;
	int64_t day_ms; /* in that day */
	struct calendar_zone zone;
	bool is_end; /* of a window */
};

static const struct unit {
	const char *name; /* words may have an s after it */
	uint32_t seconds;
} units[] = {
	{ "s", 1 },	  { "m", 60 },	    { "h", 3600 },    { "d", 86400 },
	{ "w", 604800 },  { "sec", 1 },	    { "second", 1 },  { "min", 60 },
	{ "minute", 60 }, { "hour", 3600 }, { "day", 86400 }, { "week", 604800 },
};

int64_t window_now_ms(void)
{
	return (int64_t)(clock_ns(CLOCK_REALTIME) / 1000000);
}

/* --- durations --- */

/* The unit that *@s begins with, which it moves past; NULL if there is none. ISO 8601 has capital
 * letters, which may follow each other. */
static const struct unit *parse_unit(const char **s, bool is_iso)
{
	size_t length = strspn(*s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"), i;

	if (is_iso)
		length = MIN(length, (size_t)1);
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		size_t size = strlen(units[i].name);
		bool is_plural = size > 1 && length == size + 1 && ((*s)[size] | 0x20) == 's';

		if ((length != size && !is_plural) || strncasecmp(*s, units[i].name, size) != 0)
			continue;
		*s += length;
		return &units[i];
	}
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
		if (parse_dec(&s, &value) < 0 || !(unit = parse_unit(&s, is_iso)) ||
		    value > SECONDS_MAX)
			return -EINVAL;
		/* "M" before the "T" would be months, whose length varies. */
		if (is_iso && in_time != (unit->seconds < 86400))
			return -EINVAL;
		sum += value * unit->seconds;
		if (sum > SECONDS_MAX)
			return -EINVAL;
	} while (*s);
	*ret_ms = (int64_t)sum * MS_PER_S;
	return 0;
}

/* --- instants --- */

static struct instant day_of(struct tm tm, int days)
{
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	return (struct instant){ .begin_ms = calendar_ms(tm, days, false),
				 .end_ms = calendar_ms(tm, days + 1, false),
				 .is_day = true };
}

static int64_t shown_s(struct tm tm)
{
	return (int64_t)timegm(&tm);
}

/* Parses "2026-11-20", "2026-11-20T14:00", "14:00:30.250", each with a zone if it has a clock. */
static int parse_calendar(const char *s, const struct context *c, struct instant *ret)
{
	bool has_date = strspn(s, "0123456789") == 4 && s[4] == '-';
	struct tm clock = { 0 }, tm = { 0 };
	struct calendar_fine fine;

	if (has_date && calendar_parse_date(&s, &tm) < 0)
		return -EINVAL;
	if (has_date && !*s) {
		*ret = day_of(tm, 0);
		return 0;
	}
	if ((has_date && *s != 'T' && *s != ' ') || (s += has_date, *s == '\0') ||
	    calendar_parse_clock(&s, &clock, &fine) < 0)
		return -EINVAL;
	ret->zone = c->zone;
	if (!has_date && *s == '-' && strchr(s, ':')) /* "14:00-14:05" is not in a zone */
		return -EINVAL;
	if (*s && calendar_parse_zone(s, &ret->zone) < 0)
		return -EINVAL;
	if (!has_date)
		tm = calendar_date(c->day_ms, ret->zone);
	tm.tm_hour = clock.tm_hour;
	tm.tm_min = clock.tm_min;
	tm.tm_sec = clock.tm_sec;
	ret->has_clock = !has_date;
	ret->shown_s = shown_s(tm);
	ret->is_skipped = !ret->zone.is_given && calendar_is_skipped(tm);
	if (ret->is_skipped)
		fine = (struct calendar_fine){ 0 };
	ret->begin_ms = calendar_ms_in_zone(tm, ret->zone, c->is_end) + fine.begin_ms;
	ret->end_ms = ret->begin_ms + fine.length_ms;
	return 0;
}

/* Parses the seconds since 1970, "1795437000.5". */
static int parse_epoch(const char *s, struct instant *ret)
{
	struct calendar_fine fine;
	uint64_t seconds;

	if (parse_dec(&s, &seconds) < 0 || seconds > SECONDS_MAX ||
	    calendar_parse_fraction(&s, &fine) < 0 || *s)
		return -EINVAL;
	ret->begin_ms = (int64_t)seconds * MS_PER_S + fine.begin_ms;
	ret->end_ms = ret->begin_ms + fine.length_ms;
	return 0;
}

/* Parses one time. */
static int parse_instant(const char *s, const struct context *c, struct instant *ret)
{
	int64_t ago;

	*ret = (struct instant){ .begin_ms = c->now_ms, .end_ms = c->now_ms };
	if (!strcmp(s, "now"))
		return 0;
	if (!strcmp(s, "today") || !strcmp(s, "yesterday")) {
		*ret = day_of(calendar_local(c->now_ms), *s == 'y' ? -1 : 0);
		return 0;
	}
	if (*s == '-') {
		if (window_duration(s + 1, &ago) < 0)
			return -EINVAL;
		ret->begin_ms -= ago;
		ret->is_past = true;
		return 0;
	}
	return *s == '@' ? parse_epoch(s + 1, ret) : parse_calendar(s, c, ret);
}

/* The same time of day in the zone of @at, @days later. */
static int64_t days_after(const struct instant *at, int64_t ms, int days)
{
	return at->zone.is_given ? ms + days * INT64_C(86400) * MS_PER_S
				 : calendar_days_later(ms, days);
}

/* Parses a time, with which a window begins or ends: a clock without a date is the last time that
 * it was so late. */
static int parse_last(const char *s, int64_t now_ms, bool is_end, struct instant *ret)
{
	struct context c = { .now_ms = now_ms, .day_ms = now_ms, .is_end = is_end };
	int r = parse_instant(s, &c, ret);

	c.is_end = false; /* clocks may have shown it, and be about to show it again */
	if (r == 0 && is_end && ret->has_clock && ret->begin_ms > now_ms)
		r = parse_instant(s, &c, ret);
	if (r < 0 || !ret->has_clock || ret->begin_ms <= now_ms)
		return r;
	c.is_end = is_end;
	c.day_ms = days_after(ret, now_ms, -1);
	return parse_instant(s, &c, ret);
}

/* --- text --- */

static void add_time(struct strbuf *out, int64_t ms, const char *format)
{
	struct tm tm = calendar_local(ms);
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

/* Whether a clock without a date is not before the begin of the window on that day. Of two times
 * that are one instant, because clocks skip them, it is what was written. */
static bool is_after(const struct instant *at, const struct instant *begin)
{
	return at->begin_ms > begin->begin_ms ||
	       (at->begin_ms == begin->begin_ms && !begin->is_skipped && !at->is_skipped) ||
	       (begin->is_skipped && !at->zone.is_given && at->shown_s > begin->shown_s);
}

/* Parses the time that a window ends at, which began at @begin, NULL if it has no begin: a clock
 * without a date is the first time that is not before that. It has the zone of the begin unless it
 * has one. */
static int parse_end(const char *s, int64_t now_ms, const struct instant *begin,
		     struct instant *ret)
{
	struct context c = { .now_ms = now_ms,
			     .day_ms = begin ? begin->begin_ms : now_ms,
			     .zone = begin ? begin->zone : (struct calendar_zone){ 0 },
			     .is_end = true };
	int r = begin ? parse_instant(s, &c, ret) : parse_last(s, now_ms, true, ret);

	if (r < 0 || !ret->has_clock || !begin || is_after(ret, begin))
		return r;
	c.day_ms = days_after(ret, begin->begin_ms, 1);
	r = parse_instant(s, &c, ret);
	if (ret->begin_ms > now_ms)
		warn_future(s, ret->begin_ms);
	return r;
}

/* --- windows --- */

/* What a window was made of. */
struct parts {
	struct window window;
	bool is_skipped;  /* it begins or ends in time that clocks skip */
	bool is_reversed; /* its end is before its begin */
};

/* Parses "A..B", where either may be missing. */
static int parse_range(char *from, char *to, int64_t now_ms, struct parts *ret)
{
	struct instant begin = { .begin_ms = INT64_MIN }, end = { .begin_ms = INT64_MAX };

	if (*from && parse_last(from, now_ms, false, &begin) < 0)
		return -EINVAL;
	if (*to && parse_end(to, now_ms, *from ? &begin : NULL, &end) < 0)
		return -EINVAL;
	*ret = (struct parts){ { begin.begin_ms, end.is_day ? end.end_ms : end.begin_ms },
			       begin.is_skipped || end.is_skipped,
			       end.begin_ms < begin.begin_ms };
	return 0;
}

static int parse_parts(char *text, int64_t now_ms, struct parts *ret)
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
	*ret = (struct parts){ { at.begin_ms, slash	   ? at.begin_ms + length
					      : at.is_past ? now_ms
							   : at.end_ms },
			       at.is_skipped };
	return 0;
}

static const char *why_empty(const struct parts *p)
{
	if (p->is_reversed)
		return "ends before it begins";
	if (p->is_skipped)
		return "is empty: clocks skipped that time that day, as they were set forward";
	return "is empty: it begins and ends at the same instant";
}

int window_parse(const char *text, int64_t now_ms, struct window *ret, struct error *err)
{
	_cleanup_free_ char *copy = xstrdup(text);
	struct parts parts;

	if (parse_parts(copy, now_ms, &parts) < 0)
		return error_set(err, -EINVAL,
				 "'%s' is not a time; write for example -10m, 14:00..14:05, "
				 "yesterday, 2026-11-20, 2026-11-20T14:00Z/PT5M",
				 text);
	if (parts.window.begin_ms >= parts.window.end_ms)
		return error_set(err, -EINVAL, "'%s' %s", text, why_empty(&parts));
	*ret = parts.window;
	return 0;
}

char *window_text(const struct window *w)
{
	struct strbuf out = STRBUF_INIT;
	bool has_begin = w->begin_ms != INT64_MIN, has_end = w->end_ms != INT64_MAX;
	struct tm begin = calendar_local(has_begin ? w->begin_ms : w->end_ms),
		  end = calendar_local(has_end ? w->end_ms : w->begin_ms);
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
