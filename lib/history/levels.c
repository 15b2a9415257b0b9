/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/levels.h"

#include "base/macro.h"

#define MINUTE INT64_C(60000)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

static const struct history_level levels[] = {
	{ HISTORY_SLICE_MS, 0, HOUR, "10 s" },
	{ MINUTE, HOUR, DAY, "1 min" },
	{ 10 * MINUTE, DAY, 30 * DAY, "10 min" },
	{ HOUR, 7 * DAY, 366 * DAY, "1 h" },
};
static_assert(ARRAY_SIZE(levels) == HISTORY_LEVELS, "a row for each level");

const struct history_level *history_level(unsigned int i)
{
	return &levels[i];
}
