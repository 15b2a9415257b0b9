/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/turn.h"

#include "base/clock.h"
#include "base/macro.h"

const uint64_t turn_late_ns = 50000000;

static const struct {
	const char *name, *text;
} stages[] = {
#define X(stage, name, text) [TURN_##stage] = { name, text },
	TURN_STAGES(X)
#undef X
};

void turn_begin(struct turn *t)
{
	t->begun_ns = t->marked_ns = clock_now_ns();
}

void turn_stage(struct turn *t, enum turn_stage stage)
{
	uint64_t now_ns;

	if (!t || !t->marked_ns)
		return;
	now_ns = clock_now_ns();
	t->stages_ns[stage] = MAX(t->stages_ns[stage], now_ns - t->marked_ns);
	t->marked_ns = now_ns;
}

void turn_end(struct turn *t)
{
	uint64_t took_ns;

	turn_stage(t, TURN_OTHER);
	took_ns = t->marked_ns - t->begun_ns;
	t->longest_ns = MAX(t->longest_ns, took_ns);
	t->late += took_ns > turn_late_ns;
}

void turn_next(struct turn *t)
{
	if (!t)
		return;
	turn_end(t);
	turn_begin(t);
}

void turn_reset(struct turn *t)
{
	uint64_t late = t->late;

	*t = (struct turn){ .late = late };
	turn_begin(t);
}

const char *turn_stage_name(enum turn_stage stage)
{
	return stages[stage].name;
}

const char *turn_stage_text(enum turn_stage stage)
{
	return stages[stage].text;
}
