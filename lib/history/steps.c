/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/steps.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "history/levels.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#define DAY_MS INT64_C(86400000)

/* Lengths that people count in, in seconds. Longer ones are whole days. */
static const uint32_t usual[] = { 10,	20,   30,   60,	  120,	 300,	600,   900,
				  1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400 };

/* Seconds that local time is ahead of UTC. */
static int64_t east_of(int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	(void)localtime_r(&seconds, &tm);
	return tm.tm_gmtoff;
}

static int64_t round_down(int64_t value, int64_t unit)
{
	int64_t rest = value % unit;

	return value - (rest < 0 ? rest + unit : rest);
}

/* The steps of a length that contain @span. ->count saturates. */
static struct steps cover(const struct window *span, int64_t length_ms)
{
	int64_t east_ms = east_of(span->begin_ms) * 1000;
	struct steps s = { round_down(span->begin_ms + east_ms, length_ms) - east_ms, length_ms,
			   0 };
	int64_t count = (span->end_ms - s.begin_ms + length_ms - 1) / length_ms;

	count = MAX(count, INT64_C(1));
	s.count = (uint32_t)MIN(count, (int64_t)UINT32_MAX);
	return s;
}

static struct steps fit(const struct window *span, uint32_t most)
{
	struct steps s = { 0 };
	int64_t day;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(usual); i++) {
		s = cover(span, (int64_t)usual[i] * 1000);
		if (s.count <= most)
			return s;
	}
	for (day = s.length_ms; s.count > most;)
		s = cover(span, s.length_ms + day);
	return s;
}

int steps_choose(const struct window *span, int64_t length_ms, uint32_t most, struct steps *ret,
		 struct error *err)
{
	struct steps s;

	if (length_ms % HISTORY_SLICE_MS || length_ms < 0)
		return error_set(err, -EINVAL,
				 "the steps of a timeline must be whole slices, which are %d "
				 "seconds long",
				 HISTORY_SLICE_MS / 1000);
	s = length_ms ? cover(span, length_ms) : fit(span, most);
	if (s.count > STEPS_MAX) {
		_cleanup_free_ char *window = window_text(span);

		return error_set(err, -EINVAL,
				 "%s has %" PRIu32 " steps, which are more than %d; choose longer "
				 "steps or a shorter time",
				 window, s.count, STEPS_MAX);
	}
	*ret = s;
	return 0;
}

uint32_t steps_at(const struct steps *s, const struct window *slice)
{
	int64_t middle = slice->begin_ms + (slice->end_ms - slice->begin_ms) / 2;
	int64_t i = MAX((middle - s->begin_ms) / s->length_ms, INT64_C(0));

	return (uint32_t)MIN(i, (int64_t)s->count - 1);
}

struct window steps_window(const struct steps *s, uint32_t i)
{
	int64_t begin_ms = s->begin_ms + i * s->length_ms;

	return (struct window){ begin_ms, begin_ms + s->length_ms };
}

int64_t steps_label_ms(const struct steps *s, uint32_t columns)
{
	int64_t length_ms;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(usual); i++) {
		length_ms = (int64_t)usual[i] * 1000;
		if (length_ms >= columns * s->length_ms && length_ms % s->length_ms == 0)
			return length_ms;
	}
	length_ms = columns * s->length_ms;
	/* A label with a clock would be taken for one of the day before it. */
	if (DAY_MS % s->length_ms == 0)
		length_ms = (length_ms + DAY_MS - 1) / DAY_MS * DAY_MS;
	return length_ms;
}

bool steps_begins_at(const struct steps *s, uint32_t i, int64_t length_ms)
{
	int64_t begin_ms = steps_window(s, i).begin_ms;

	return (begin_ms + east_of(begin_ms) * 1000) % length_ms == 0;
}

int64_t steps_east_ms(const struct steps *s)
{
	return east_of(s->begin_ms) * 1000;
}

char *steps_length_text(int64_t length_ms)
{
	static const struct {
		char letter;
		int64_t seconds;
	} units[] = { { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
	struct strbuf text = STRBUF_INIT;
	int64_t left = length_ms / 1000;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (left / units[i].seconds)
			strbuf_addf(&text, "%" PRId64 "%c", left / units[i].seconds,
				    units[i].letter);
		left %= units[i].seconds;
	}
	return strbuf_take(&text);
}
