/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/calendar.h"

#include "base/macro.h"

#include <errno.h>
#include <string.h>

#define MS_PER_S INT64_C(1000)

struct tm calendar_local(int64_t ms)
{
	time_t seconds = (time_t)(ms / MS_PER_S);
	struct tm tm;

	(void)localtime_r(&seconds, &tm);
	return tm;
}

/* Whether clocks show the same at both instants. */
static bool is_same_clock(int64_t ms, int64_t other_ms)
{
	struct tm a = calendar_local(ms), b = calendar_local(other_ms);

	return a.tm_mday == b.tm_mday && a.tm_hour == b.tm_hour && a.tm_min == b.tm_min;
}

/* What clocks show at an instant, in seconds, as if it were UTC. */
static int64_t shown_s(time_t at)
{
	struct tm tm;

	(void)localtime_r(&at, &tm);
	return (int64_t)timegm(&tm);
}

/* The instant of local time @tm. Returns true; or false if clocks skip it: it is near that then. */
static bool find_instant(struct tm tm, time_t *ret)
{
	struct tm utc = tm;

	tm.tm_isdst = -1;
	*ret = mktime(&tm);
	return shown_s(*ret) == (int64_t)timegm(&utc);
}

/* The instant at which clocks skip @tm, and which is at most that far from @near. */
static time_t end_of_skipped(struct tm tm, time_t near)
{
	const int64_t skipped_s = (int64_t)timegm(&tm);
	const int64_t distance = skipped_s - shown_s(near);
	const time_t far = (time_t)(distance < 0 ? -distance : distance);
	time_t before = near - far, after = near + far;

	while (after - before > 1) {
		const time_t middle = before + (after - before) / 2;

		if (shown_s(middle) < skipped_s)
			before = middle;
		else
			after = middle;
	}
	return after;
}

bool calendar_is_skipped(struct tm tm)
{
	time_t at;

	return !find_instant(tm, &at);
}

int64_t calendar_ms(struct tm tm, int days, bool is_end)
{
	static const int set_back_s[] = { 3600, 1800, 7200 };
	int64_t first, second;
	time_t at;
	size_t i;

	tm.tm_mday += days;
	if (!find_instant(tm, &at))
		return (int64_t)end_of_skipped(tm, at) * MS_PER_S;
	first = second = (int64_t)at * MS_PER_S;
	for (i = 0; i < ARRAY_SIZE(set_back_s) && first == second; i++) {
		const int64_t length = set_back_s[i] * MS_PER_S;

		if (is_same_clock(first, first - length))
			first -= length;
		else if (is_same_clock(second, second + length))
			second += length;
	}
	return is_end && is_same_clock(first - 1, second - 1) ? second : first;
}

int64_t calendar_days_later(int64_t ms, int days)
{
	return calendar_ms(calendar_local(ms), days, false) + ms % MS_PER_S;
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

int calendar_parse_date(const char **s, struct tm *tm)
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

int calendar_parse_fraction(const char **s, struct calendar_fine *ret)
{
	int unit_ms = 1000, digits = 0;

	*ret = (struct calendar_fine){ .length_ms = unit_ms };
	if (**s != '.')
		return 0;
	for ((*s)++; **s >= '0' && **s <= '9'; (*s)++, digits++) {
		unit_ms /= 10;
		ret->begin_ms += (**s - '0') * unit_ms;
	}
	ret->length_ms = MAX(unit_ms, 1);
	return digits >= 1 && digits <= 9 ? 0 : -EINVAL;
}

/* Parses "14:" or "1:". */
static int parse_hour(const char **s, int *ret)
{
	return parse_part(s, **s && (*s)[1] == ':' ? 1 : 2, ':', 24, ret);
}

int calendar_parse_clock(const char **s, struct tm *tm, struct calendar_fine *ret)
{
	*ret = (struct calendar_fine){ .length_ms = 60000 };
	tm->tm_sec = 0;
	if (parse_hour(s, &tm->tm_hour) < 0 || parse_part(s, 2, '\0', 59, &tm->tm_min) < 0)
		return -EINVAL;
	if (**s == ':') {
		(*s)++;
		if (parse_part(s, 2, '\0', 60, &tm->tm_sec) < 0 ||
		    calendar_parse_fraction(s, ret) < 0)
			return -EINVAL;
	}
	if (tm->tm_hour == 24 && (tm->tm_min || tm->tm_sec || ret->begin_ms))
		return -EINVAL;
	return 0;
}

int calendar_parse_zone(const char *s, struct calendar_zone *ret)
{
	int sign = *s == '-' ? -1 : 1, hours, minutes = 0;

	*ret = (struct calendar_zone){ .is_given = true };
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

int64_t calendar_ms_in_zone(struct tm tm, struct calendar_zone zone, bool is_end)
{
	return zone.is_given ? ((int64_t)timegm(&tm) - zone.east) * MS_PER_S
			     : calendar_ms(tm, 0, is_end);
}

struct tm calendar_date(int64_t ms, struct calendar_zone zone)
{
	time_t seconds = (time_t)(ms / MS_PER_S) + zone.east;
	struct tm tm;

	(void)(zone.is_given ? gmtime_r : localtime_r)(&seconds, &tm);
	return tm;
}
