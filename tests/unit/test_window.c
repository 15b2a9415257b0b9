/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "history/window.h"

#include <errno.h>
#include <time.h>

static int64_t now_ms(void)
{
	return INT64_C(1795437015) * 1000 + 500;
}

static void use_zone(const char *zone)
{
	(void)setenv("TZ", zone, 1);
	tzset();
}

/* What @text means at NOW; "-" if it is refused. */
static char *meaning(const char *text)
{
	struct window w;

	return window_parse(text, now_ms(), &w, NULL) < 0 ? xstrdup("-") : window_text(&w);
}

static void a_time_may_have_milliseconds(void)
{
	struct window w;

	CHECK_EQ(window_parse("2026-11-23T13:30:15.250Z..2026-11-23T13:30:15.500Z", now_ms(), &w,
			      NULL),
		 0);
	CHECK_EQ(w.begin_ms, INT64_C(1795440615250));
	CHECK_EQ(w.end_ms, INT64_C(1795440615500));
	CHECK_EQ(window_parse("2026-11-23T13:30:15.250Z", now_ms(), &w, NULL), 0);
	CHECK_EQ(w.end_ms - w.begin_ms, 1);
	/* Not yet today, so yesterday. */
	CHECK_EQ(window_parse("23:00:00.125..", now_ms(), &w, NULL), 0);
	CHECK_EQ(w.begin_ms % 1000, 125);
}

static void a_second_has_up_to_nine_decimals(void)
{
	static const struct {
		const char *text;
		int64_t begin_ms, length_ms;
	} rows[] = {
		{ "2026-11-23T13:30:15.2Z", INT64_C(1795440615200), 100 },
		{ "2026-11-23T13:30:15.25Z", INT64_C(1795440615250), 10 },
		{ "2026-11-23T13:30:15.250999999Z", INT64_C(1795440615250), 1 },
		{ "@1795440615.5", INT64_C(1795440615500), 100 },
		{ "@1795440615.123456789", INT64_C(1795440615123), 1 },
		{ "@1795440615.5..@1795440616.75", INT64_C(1795440615500), 1250 },
		{ "@1795440615", INT64_C(1795440615000), 1000 },
	};
	struct window w = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_EQ(window_parse(rows[i].text, now_ms(), &w, NULL), 0);
		CHECK_EQ(w.begin_ms, rows[i].begin_ms);
		CHECK_EQ(w.end_ms - w.begin_ms, rows[i].length_ms);
	}
}

static void times_mean_what_people_write(void)
{
	static const struct {
		const char *text, *window;
	} rows[] = {
		{ "-10m", "2026-11-23 13:20:15 .. 13:30:15 +0100" },
		{ "-90s", "2026-11-23 13:28:45 .. 13:30:15 +0100" },
		{ "-1h30m", "2026-11-23 12:00:15 .. 13:30:15 +0100" },
		{ "-2h..-1h", "2026-11-23 11:30:15 .. 12:30:15 +0100" },
		{ "-1h..", "2026-11-23 12:30:15 .. +0100" },
		{ "..-1h", ".. 2026-11-23 12:30:15 +0100" },
		{ "today", "2026-11-23 00:00:00 .. 2026-11-24 00:00:00 +0100" },
		{ "yesterday", "2026-11-22 00:00:00 .. 2026-11-23 00:00:00 +0100" },
		{ "yesterday..today", "2026-11-22 00:00:00 .. 2026-11-24 00:00:00 +0100" },
		{ "2026-11-20", "2026-11-20 00:00:00 .. 2026-11-21 00:00:00 +0100" },
		{ "2026-11-20..2026-11-21", "2026-11-20 00:00:00 .. 2026-11-22 00:00:00 +0100" },
		{ "13:00", "2026-11-23 13:00:00 .. 13:01:00 +0100" },
		{ "13:00:30", "2026-11-23 13:00:30 .. 13:00:31 +0100" },
		/* Not yet today, so yesterday. */
		{ "14:00..14:05", "2026-11-22 14:00:00 .. 14:05:00 +0100" },
		{ "22:00..02:00", "2026-11-22 22:00:00 .. 2026-11-23 02:00:00 +0100" },
		{ "yesterday..02:00", "2026-11-22 00:00:00 .. 02:00:00 +0100" },
		{ "13:00..now", "2026-11-23 13:00:00 .. 13:30:15 +0100" },
		{ "2026-11-20T14:00Z/PT5M", "2026-11-20 15:00:00 .. 15:05:00 +0100" },
		{ "2026-11-20 14:00/5m", "2026-11-20 14:00:00 .. 14:05:00 +0100" },
		{ "2026-11-20T14:00+05:30/P1DT1H",
		  "2026-11-20 09:30:00 .. 2026-11-21 10:30:00 +0100" },
		{ "@1795437015..@1795437020", "2026-11-23 13:30:15 .. 13:30:20 +0100" },
		{ "13:00:30.250..13:00:31", "2026-11-23 13:00:30 .. 13:00:31 +0100" },
		/* The end of the day. */
		{ "00:00..24:00", "2026-11-23 00:00:00 .. 2026-11-24 00:00:00 +0100" },
		{ "2026-11-20T22:00..24:00", "2026-11-20 22:00:00 .. 2026-11-21 00:00:00 +0100" },
		{ "2026-11-20T14:00..2026-11-20T24:00:00",
		  "2026-11-20 14:00:00 .. 2026-11-21 00:00:00 +0100" },
		{ "..24:00", ".. 2026-11-23 00:00:00 +0100" },
		{ "2026-11-20T22:00Z..24:00", "2026-11-20 23:00:00 .. 2026-11-21 01:00:00 +0100" },
		/* Without the zero. */
		{ "1:24", "2026-11-23 01:24:00 .. 01:25:00 +0100" },
		{ "9:05..9:07:30", "2026-11-23 09:05:00 .. 09:07:30 +0100" },
		{ "2026-11-20T1:24+0100/5m", "2026-11-20 01:24:00 .. 01:29:00 +0100" },
		{ "1:24-0300", "2026-11-23 05:24:00 .. 05:25:00 +0100" },
		/* Words. */
		{ "-5min", "2026-11-23 13:25:15 .. 13:30:15 +0100" },
		{ "-2hours..-1hour", "2026-11-23 11:30:15 .. 12:30:15 +0100" },
		{ "-90sec", "2026-11-23 13:28:45 .. 13:30:15 +0100" },
		{ "-1hour30minutes", "2026-11-23 12:00:15 .. 13:30:15 +0100" },
		{ "-1week..-6days", "2026-11-16 13:30:15 .. 2026-11-17 13:30:15 +0100" },
		{ "-1day", "2026-11-22 13:30:15 .. 2026-11-23 13:30:15 +0100" },
		{ "13:00/30secs", "2026-11-23 13:00:00 .. 13:00:30 +0100" },
		{ "..", ".." },
		{ "2024-02-29", "2024-02-29 00:00:00 .. 2024-03-01 00:00:00 +0100" },
		/* Over the end of daylight saving. */
		{ "2026-10-24..2026-10-25",
		  "2026-10-24 00:00:00 +0200 .. 2026-10-26 00:00:00 +0100" },
		{ "2026-10-25T00:30Z..01:30",
		  "2026-10-25 02:30:00 +0200 .. 2026-10-25 02:30:00 +0100" },
		/* The end has the zone of the begin, unless it has its own. */
		{ "2026-11-20T14:00Z..14:05", "2026-11-20 15:00:00 .. 15:05:00 +0100" },
		{ "2026-11-20T14:00Z..2026-11-20T14:05", "2026-11-20 15:00:00 .. 15:05:00 +0100" },
		{ "2026-11-20T14:00Z..15:05+01:00", "2026-11-20 15:00:00 .. 15:05:00 +0100" },
		/* A clock is on the last day of its zone. */
		{ "21:00-0300..21:10", "2026-11-23 01:00:00 .. 01:10:00 +0100" },
		{ "23:00Z..23:30Z", "2026-11-23 00:00:00 .. 00:30:00 +0100" },
		{ "02:00+1400", "2026-11-23 13:00:00 .. 13:01:00 +0100" },
		{ "23:00+0900..01:00", "2026-11-22 15:00:00 .. 17:00:00 +0100" },
		{ "2026-11-20T14:00-03:00", "2026-11-20 18:00:00 .. 18:01:00 +0100" },
	};
	size_t i;

	use_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *window = meaning(rows[i].text);

		CHECK_STR(window, rows[i].window);
	}
}

static void what_is_no_time_is_refused(void)
{
	static const char *const texts[] = {
		"13:00:30.",
		"13:00:30.1234567890",
		"13:00:30.2x",
		"13:00.250",
		"24:01",
		"24:00:01",
		"24:00:00.5",
		"124:00",
		"1:2",
		":24",
		"@",
		"@1.",
		"@1.5x",
		"@0x10",
		"-5mo",
		"-5months",
		"-5hs",
		"-5secondss",
		"-min",
		"-PT5min",
		"",
		"now",
		"later",
		"10m",
		"-10",
		"-10y",
		"-99999999999999999999s",
		"-9999999999999h",
		"25:00",
		"14:60",
		"2026-13-01",
		"2026-02-29",
		"2026-04-31T14:00",
		"2026-11-20x",
		"2026-11-20T",
		"14:00+",
		"14:00-14:05",
		"13:00/0s",
		"-0s",
		"14:00/",
		"14:00/P5M", /* five months */
		"-1h..-2h",
		"13:00..13:00:00..14:00",
	};
	size_t i;

	use_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_free_ char *window = meaning(texts[i]);

		CHECK_STR(window, "-");
	}
}

static void a_day_of_daylight_saving_has_its_own_length(void)
{
	struct window w;

	use_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	CHECK_EQ(window_parse("2026-03-29", now_ms(), &w, NULL), 0);
	CHECK_EQ((w.end_ms - w.begin_ms) / 3600000, 23);
	CHECK_EQ(window_parse("2026-10-25", now_ms(), &w, NULL), 0);
	CHECK_EQ((w.end_ms - w.begin_ms) / 3600000, 25);
}

/* The last instant before midnight on each side of a change, and the day before it. */
static void yesterday_may_have_23_or_25_hours(void)
{
	static const struct {
		const char *zone;
		int64_t now_s; /* within the day after the change */
		const char *yesterday;
		int hours;
	} rows[] = {
		{ "CET-1CEST,M3.5.0,M10.5.0/3", 1774861200,
		  "2026-03-29 00:00:00 +0100 .. 2026-03-30 00:00:00 +0200", 23 },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", 1793005200,
		  "2026-10-25 00:00:00 +0200 .. 2026-10-26 00:00:00 +0100", 25 },
		/* The clock is set at midnight: there is none. */
		{ "<-03>3<-02>,M11.1.0/0,M2.3.0/0", 1793620800,
		  "2026-11-01 01:00:00 .. 2026-11-02 00:00:00 -0200", 23 },
		/* Or 23 o'clock comes twice. */
		{ "<-03>3<-02>,M11.1.0/0,M2.3.0/0", 1771207200,
		  "2026-02-14 00:00:00 -0200 .. 2026-02-15 00:00:00 -0300", 25 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = NULL;
		struct window w, day;

		use_zone(rows[i].zone);
		CHECK_EQ(window_parse("yesterday", rows[i].now_s * 1000, &w, NULL), 0);
		text = window_text(&w);
		CHECK_STR(text, rows[i].yesterday);
		CHECK_EQ((w.end_ms - w.begin_ms) / 3600000, rows[i].hours);
		/* Days follow one another without a gap. */
		CHECK_EQ(window_parse("today", rows[i].now_s * 1000, &day, NULL), 0);
		CHECK_EQ(day.begin_ms, w.end_ms);
		CHECK_EQ(window_parse("yesterday", rows[i].now_s * 1000 - 86400000, &day, NULL), 0);
		CHECK_EQ(day.end_ms, w.begin_ms);
	}
}

static void what_clocks_show_twice_is_twice_as_long(void)
{
	static const struct {
		const char *text, *expected;
		int64_t now_s; /* 0: at noon */
	} rows[] = {
		{ "02:00..03:00", "2026-10-25 02:00:00 +0200 .. 2026-10-25 03:00:00 +0100" },
		{ "2026-10-25T02:00..2026-10-25T03:00",
		  "2026-10-25 02:00:00 +0200 .. 2026-10-25 03:00:00 +0100" },
		{ "2026-10-25T02:30..02:45",
		  "2026-10-25 02:30:00 +0200 .. 2026-10-25 02:45:00 +0100" },
		{ "01:30..02:30", "2026-10-25 01:30:00 +0200 .. 2026-10-25 02:30:00 +0100" },
		{ "02:30..03:30", "2026-10-25 02:30:00 +0200 .. 2026-10-25 03:30:00 +0100" },
		{ "..02:30", ".. 2026-10-25 02:30:00 +0100" },
		/* A quarter of an hour later, before clocks show it again. */
		{ "..02:30", ".. 2026-10-25 02:30:00 +0200", 1792889100 },
		/* Hours that follow one another have nothing in common. */
		{ "01:00..02:00", "2026-10-25 01:00:00 .. 02:00:00 +0200" },
		{ "2026-10-24T23:00..02:00", "2026-10-24 23:00:00 .. 2026-10-25 02:00:00 +0200" },
		{ "02:30/10m", "2026-10-25 02:30:00 .. 02:40:00 +0200" },
		{ "2026-10-24T23:00..02:30",
		  "2026-10-24 23:00:00 +0200 .. 2026-10-25 02:30:00 +0100" },
		/* A zone says which one is meant. */
		{ "02:00+0200..03:00", "2026-10-25 02:00:00 +0200 .. 2026-10-25 02:00:00 +0100" },
		{ "02:00+0100..03:00", "2026-10-25 02:00:00 .. 03:00:00 +0100" },
		{ "01:00..02:00+0200", "2026-10-25 01:00:00 .. 02:00:00 +0200" },
	};
	size_t i;

	use_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = NULL;
		struct window w;

		CHECK_EQ(window_parse(rows[i].text, (rows[i].now_s ?: 1792926000) * 1000, &w, NULL),
			 0);
		text = window_text(&w);
		CHECK_STR(text, rows[i].expected);
	}
}

static void what_clocks_skip_is_no_time(void)
{
	static const struct {
		const char *text, *expected; /* NULL: skipped */
		int64_t now_s;		     /* 0: in the evening */
	} rows[] = {
		{ "2026-03-08T02:00..03:00" },
		{ "02:00..03:00" },
		{ "2026-03-08T02:00..2026-03-08T03:00" },
		{ "02:00..02:30" },
		{ "02:15:00.250..02:30:30" },
		{ "02:30" },
		{ "02:30:15" },
		/* What clocks showed. */
		{ "2026-03-08T02:30..03:30", "2026-03-08 03:00:00 .. 03:30:00 -0400" },
		{ "01:30..02:30", "2026-03-08 01:30:00 -0500 .. 2026-03-08 03:00:00 -0400" },
		{ "01:30..03:30", "2026-03-08 01:30:00 -0500 .. 2026-03-08 03:30:00 -0400" },
		{ "02:30/10m", "2026-03-08 03:00:00 .. 03:10:00 -0400" },
		{ "..02:30", ".. 2026-03-08 03:00:00 -0400" },
		{ "02:30..", "2026-03-08 03:00:00 .. -0400" },
		/* Another day has these times. */
		{ "2026-03-07T04:00..02:30",
		  "2026-03-07 04:00:00 -0500 .. 2026-03-08 03:00:00 -0400" },
		{ "2026-03-08T04:00..02:30", "2026-03-08 04:00:00 .. 2026-03-09 02:30:00 -0400" },
		{ "2026-03-08T02:45..02:30", "2026-03-08 03:00:00 .. 2026-03-09 02:30:00 -0400" },
		{ "02:30..02:45", "2026-03-07 02:30:00 .. 02:45:00 -0500", 1772949600 },
		{ "..02:30", ".. 2026-03-07 02:30:00 -0500", 1772949600 },
		{ "2026-03-08T02:30Z", "2026-03-07 21:30:00 .. 21:31:00 -0500" },
	};
	size_t i;

	use_zone("EST5EDT,M3.2.0,M11.1.0");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;
		_cleanup_free_ char *text = NULL;
		struct window w;
		int r = window_parse(rows[i].text, (rows[i].now_s ?: 1773013500) * 1000, &w, &err);

		text = r < 0 ? xstrdup(err.text) : window_text(&w);
		CHECK(rows[i].expected || strstr(text, "clocks skipped that time"));
		if (rows[i].expected)
			CHECK_STR(text, rows[i].expected);
	}
}

static void other_zones_skip_other_times(void)
{
	static const struct {
		const char *zone, *text, *expected;
	} rows[] = {
		{ "CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T02:00..03:00", "-" },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T02:10..03:20",
		  "2026-03-29 03:00:00 .. 03:20:00 +0200" },
		/* At midnight, and half an hour. */
		{ "<-03>3<-02>,M11.1.0/0,M2.3.0/0", "2026-11-01T00:00..01:00", "-" },
		{ "<-03>3<-02>,M11.1.0/0,M2.3.0/0", "2026-10-31T23:00..00:30",
		  "2026-10-31 23:00:00 -0300 .. 2026-11-01 01:00:00 -0200" },
		{ "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-10-04T02:00..02:30", "-" },
		{ "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-10-04T02:20..02:40",
		  "2026-10-04 02:30:00 .. 02:40:00 +1100" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *window = NULL;

		use_zone(rows[i].zone);
		window = meaning(rows[i].text);
		CHECK_STR(window, rows[i].expected);
	}
}

static void a_refusal_shows_the_forms(void)
{
	struct error err = ERROR_INIT;
	struct window w;

	CHECK_EQ(window_parse("soon", now_ms(), &w, &err), -EINVAL);
	CHECK(strstr(err.text, "'soon'") && strstr(err.text, "14:00..14:05"));
	CHECK_EQ(window_parse("-1h..-2h", now_ms(), &w, &err), -EINVAL);
	CHECK(strstr(err.text, "before"));
	CHECK_EQ(window_parse("now", now_ms(), &w, &err), -EINVAL);
	CHECK(strstr(err.text, "'now' is empty") && strstr(err.text, "same instant"));
	CHECK_EQ(window_parse("-0s", now_ms(), &w, &err), -EINVAL);
	CHECK(strstr(err.text, "'-0s' is empty"));
	CHECK_EQ(window_parse("14:00..14:00", now_ms(), &w, &err), -EINVAL);
	CHECK(strstr(err.text, "' is empty"));
	CHECK_EQ(window_parse("2026-11-20..2026-11-19", now_ms(), &w, &err), -EINVAL);
	CHECK(strstr(err.text, "' ends before it begins"));
}

TESTS(T(a_time_may_have_milliseconds), T(a_second_has_up_to_nine_decimals),
      T(times_mean_what_people_write), T(what_is_no_time_is_refused),
      T(a_day_of_daylight_saving_has_its_own_length), T(yesterday_may_have_23_or_25_hours),
      T(what_clocks_show_twice_is_twice_as_long), T(what_clocks_skip_is_no_time),
      T(other_zones_skip_other_times), T(a_refusal_shows_the_forms))
