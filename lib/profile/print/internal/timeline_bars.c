/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/internal/timeline_bars.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "profile/rows/timeline.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { LEVELS = 8, LABEL_ROOM = 7, CLOCK_ROOM = 8 };

/* A row is nothing, then the lowest to the highest bar. */
static const char *const ascii[LEVELS + 1] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };
static const char *const blocks[LEVELS + 1] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

unsigned int timeline_bars_width(const struct timeline *t)
{
	return MAX(t->steps.count, (uint32_t)CLOCK_ROOM);
}

const char *timeline_gap(bool utf8)
{
	return utf8 ? "░" : "?";
}

/* Whether step number @i was recorded, but in a slice that counts for another step: slices may be
 * as long as steps, or longer. */
static bool is_elsewhere(const struct timeline *t, uint32_t i)
{
	return t->cover[i].is_recorded && !t->cover[i].is_counted;
}

/* The step that the slice counts for which step number @i was recorded in. */
static uint32_t step_of_slice(const struct timeline *t, uint32_t i)
{
	uint32_t at = i;

	while (at > 0 && is_elsewhere(t, at))
		at--;
	if (t->cover[at].is_counted)
		return at;
	for (at = i; at + 1 < t->steps.count && is_elsewhere(t, at);)
		at++;
	return at;
}

/* Samples per second in step number @i. */
static double rate(const struct timeline *t, const uint64_t *counts, uint32_t i)
{
	int64_t covered_ms;

	i = step_of_slice(t, i);
	covered_ms = t->cover[i].covered_ms;
	return covered_ms > 0 ? (double)counts[i] * 1000 / (double)covered_ms : 0;
}

double timeline_peak(const struct timeline *t, const uint64_t *counts)
{
	double peak = 0;
	uint32_t i;

	for (i = 0; i < t->steps.count; i++) {
		double here = rate(t, counts, i);

		peak = MAX(peak, here);
	}
	return peak;
}

static unsigned int level_of(double part)
{
	/* Rounded up, as any sample must be seen; a little less than that, for rounding errors. */
	double level = ceil(part * LEVELS - 1e-9);

	return level < 1 ? part > 0 : MIN((unsigned int)level, (unsigned int)LEVELS);
}

void timeline_bars(const struct timeline *t, const uint64_t *counts, bool utf8, struct strbuf *out)
{
	const char *const *bars = utf8 ? blocks : ascii;
	double peak = timeline_peak(t, counts);
	uint32_t i;

	for (i = 0; i < t->steps.count; i++)
		strbuf_adds(out, t->cover[i].is_recorded
					 ? bars[peak > 0 ? level_of(rate(t, counts, i) / peak) : 0]
					 : timeline_gap(utf8));
	for (; i < timeline_bars_width(t); i++)
		strbuf_adds(out, " ");
}

/* Writes when step number @i begins at its place in @line: a date at midnight, else a clock. */
static void write_label(const struct timeline *t, uint32_t i, bool seconds, char *line)
{
	time_t begin = (time_t)(steps_window(&t->steps, i).begin_ms / 1000);
	char text[16];
	struct tm tm;
	size_t length;

	(void)localtime_r(&begin, &tm);
	length = strftime(text, sizeof(text),
			  seconds		    ? "%H:%M:%S"
			  : tm.tm_hour || tm.tm_min ? "%H:%M"
						    : "%m-%d",
			  &tm);
	memcpy(line + i, text, length);
}

void timeline_axis(const struct timeline *t, struct strbuf *out)
{
	int64_t label_ms = steps_label_ms(&t->steps, LABEL_ROOM);
	unsigned int width = timeline_bars_width(t);
	_cleanup_free_ char *line = xmalloc(width + 1);
	uint32_t i, first = t->steps.count;

	memset(line, ' ', width);
	line[width] = '\0';
	for (i = 0; i + LABEL_ROOM - 2 <= t->steps.count; i++) {
		if (!steps_begins_at(&t->steps, i, label_ms))
			continue;
		write_label(t, i, false, line);
		first = MIN(first, i);
	}
	if (first > CLOCK_ROOM || first == t->steps.count)
		write_label(t, 0, true, line);
	strbuf_adds(out, line);
}
