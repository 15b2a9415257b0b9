/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/turn.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/path.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

const uint64_t turn_late_ns = 50000000;
/* What takes longer is logged. */
static const uint64_t long_ns = 20000000;
static const uint64_t ns_per_ms = 1000000;

static const struct {
	const char *name, *text;
} stages[] = {
#define X(stage, name, text) [TURN_##stage] = { name, text },
	TURN_STAGES(X)
#undef X
};

/* How long the thread has waited for a CPU so far. */
static uint64_t queued_ns(const struct turn *t)
{
	_cleanup_free_ char *path = xasprintf("/proc/self/task/%d/schedstat", (int)t->tid);
	_cleanup_free_ char *text = NULL;
	const char *at;
	uint64_t ret = 0;

	/* It ran for so many nanoseconds, and waited for so many. */
	if (path_read("", path, &text, NULL) < 0)
		return 0;
	at = strchr(text, ' ');
	if (!at++ || parse_dec(&at, &ret) < 0)
		return 0;
	return ret;
}

/* Notes what the thread has done before this turn. */
static void watch(struct turn *t)
{
	memset(t->these_ns, 0, sizeof(t->these_ns));
	t->ran_ns = clock_ns(t->clock);
	t->queued_ns = queued_ns(t);
}

void turn_begin(struct turn *t)
{
	t->begun_ns = t->marked_ns = clock_now_ns();
	t->is_watched =
		log_wants(LOG_LEVEL_DEBUG) && pthread_getcpuclockid(pthread_self(), &t->clock) == 0;
	t->tid = gettid();
	if (t->is_watched)
		watch(t);
}

/* Logs where the time of a long turn went. */
static void explain(const struct turn *t, uint64_t took_ns)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	size_t i;

	for (i = 0; i < TURN_STAGE_COUNT_; i++)
		if (t->these_ns[i] >= ns_per_ms)
			strbuf_addf(&text, "%s %s %" PRIu64, text.length ? "," : "", stages[i].name,
				    t->these_ns[i] / ns_per_ms);
	log_debug("no drain for %" PRIu64 " ms:%s; of that, ran for %" PRIu64
		  " ms, waited for a CPU for %" PRIu64 " ms",
		  took_ns / ns_per_ms, strbuf_text(&text),
		  (clock_ns(t->clock) - t->ran_ns) / ns_per_ms,
		  (queued_ns(t) - t->queued_ns) / ns_per_ms);
}

void turn_stage(struct turn *t, enum turn_stage stage)
{
	uint64_t now_ns;

	if (!t || !t->marked_ns || t->is_idle)
		return;
	now_ns = clock_now_ns();
	t->stages_ns[stage] = MAX(t->stages_ns[stage], now_ns - t->marked_ns);
	t->these_ns[stage] += now_ns - t->marked_ns;
	t->marked_ns = now_ns;
}

/* Takes note of a time without a drain. */
static void note_turn(struct turn *t)
{
	uint64_t took_ns = t->marked_ns - t->begun_ns;

	if (t->is_idle)
		return;
	t->longest_ns = MAX(t->longest_ns, took_ns);
	t->late += took_ns > turn_late_ns;
	if (t->is_watched && took_ns > long_ns)
		explain(t, took_ns);
}

void turn_split(struct turn *t)
{
	if (!t)
		return;
	turn_stage(t, TURN_OTHER);
	note_turn(t);
	if (t->is_watched)
		watch(t);
	t->begun_ns = t->marked_ns;
}

void turn_end(struct turn *t)
{
	turn_stage(t, TURN_OTHER);
	note_turn(t);
	t->begun_ns = t->marked_ns = 0;
	if (t->between)
		t->between(t->data);
}

void turn_next(struct turn *t)
{
	if (!t)
		return;
	turn_end(t);
	turn_begin(t);
}

void turn_start(struct turn *t)
{
	if (!t)
		return;
	*t = (struct turn){ .late = t->late, .between = t->between, .data = t->data };
	turn_begin(t);
}

void turn_stop(struct turn *t)
{
	if (!t)
		return;
	turn_stage(t, TURN_OTHER);
	note_turn(t);
	t->is_idle = true;
}

uint64_t turn_longest_ns(const struct turn *t)
{
	uint64_t this_ns = t->begun_ns && !t->is_idle ? clock_now_ns() - t->begun_ns : 0;

	return MAX(t->longest_ns, this_ns);
}

const char *turn_stage_name(enum turn_stage stage)
{
	return stages[stage].name;
}

const char *turn_stage_text(enum turn_stage stage)
{
	return stages[stage].text;
}
