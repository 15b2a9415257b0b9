/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which event counts a wait. */
#include "event/evoffcpu.h"

#include "event/event_types.h"
#include "test.h"

#include <string.h>

/* What counts waits for lock, io, sleep, queue, fault and idle: a digit is an event, - none. */
static void each_reason_is_counted_at_most_once(void)
{
	static const struct {
		const char *what, *events;
		size_t count;
	} rows[] = {
		{ "", "00000-", 1 },
		{ "idle", "000000", 1 },
		{ "blocked", "000-0-", 1 },
		{ "reasons", "01234-", 5 },
		{ "reasons,idle", "012345", 6 },
		{ "queue", "---0--", 1 },
		{ "fault,lock", "0---1-", 2 },
		{ "idle,lock", "0----1", 2 },
		{ "reasons,blocked", "012-4-", 5 },
		{ "io,wakers", "-0----", 1 },
	};
	enum offcpu_reason reason;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct evoffcpu o = { 0 };
		char events[OFFCPU_REASON_COUNT_ + 1] = "";

		CHECK_EQ(evoffcpu_parse(rows[i].what, &o, NULL), 0);
		for (reason = 0; reason < OFFCPU_REASON_COUNT_; reason++) {
			int index = evoffcpu_index(&o, reason);

			events[reason] = (char)(index < 0 ? '-' : '0' + index);
		}
		CHECK_STR(events, rows[i].events);
		CHECK_EQ(evoffcpu_count(&o), rows[i].count);
	}
}

static void a_total_counts_what_has_no_event_of_its_own(void)
{
	struct evoffcpu o = { 0 };
	struct event event;

	evoffcpu_add(&o, "OFFCPU_SLEEP");
	evoffcpu_add(&o, "OFFCPU");
	CHECK_EQ(evoffcpu_count(&o), 2);
	CHECK_EQ(evoffcpu_index(&o, OFFCPU_LOCK), 0);
	CHECK_EQ(evoffcpu_index(&o, OFFCPU_SLEEP), 1);
	CHECK_EQ(evoffcpu_index(&o, OFFCPU_IDLE), -1);
	evoffcpu_event(&o, 0, &event);
	CHECK_STR(event.name, "OFFCPU");
	evoffcpu_event(&o, 1, &event);
	CHECK_STR(event.name, "OFFCPU_SLEEP");
}

static void a_mistake_changes_nothing(void)
{
	struct evoffcpu o = { 0 };

	CHECK(evoffcpu_parse("idle,nonsense", &o, NULL) < 0);
	CHECK_EQ(evoffcpu_count(&o), 0);
	CHECK(!o.idle);
}

TESTS(T(each_reason_is_counted_at_most_once), T(a_total_counts_what_has_no_event_of_its_own),
      T(a_mistake_changes_nothing))
