/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/offcpu.h"

#include "base/mem.h"

#include "test.h"

enum { MS = 1000000 };

/* Where a task left: all that these tests want to know. */
struct place {
	uint32_t tid;
	uint64_t ip;
};

static void leave(struct offcpu *o, uint32_t tid, uint64_t time_ns, uint64_t ip)
{
	struct place *place = xmalloc(sizeof(*place));

	*place = (struct place){ tid, ip };
	offcpu_leave(o, tid, time_ns, place);
}

static struct perf_record switched(uint32_t tid, uint64_t time_ns, uint16_t misc)
{
	return (struct perf_record){ .type = PERF_RECORD_SWITCH_CPU_WIDE,
				     .misc = misc,
				     .pid = tid / 10 * 10,
				     .tid = tid,
				     .time_ns = time_ns };
}

/* What a task does: it leaves, of itself or not, or comes back. */
enum step_kind { LEAVES, IS_MADE_TO, RETURNS, EXITS, FORKED, LOSS };

struct step {
	enum step_kind kind;
	uint32_t tid;
	uint64_t at_ns, ip, us; /* counted */
};

/* Takes the steps; whether each counts what it says. */
static void take(struct offcpu *o, const struct step *steps, size_t count)
{
	struct perf_record r;
	uint64_t us;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct step *s = &steps[i];
		uint16_t out = PERF_RECORD_MISC_SWITCH_OUT;
		_cleanup_free_ void *where = NULL;
		const struct place *place;

		if (s->kind == LEAVES || s->kind == IS_MADE_TO) {
			leave(o, s->tid, s->at_ns, s->ip);
			out |= s->kind == IS_MADE_TO ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0;
			r = switched(s->tid, s->at_ns + 1, out);
			us = offcpu_take(o, 0, &r, &where);
		} else {
			r = switched(s->tid, s->at_ns, 0);
			r.type = s->kind == EXITS    ? PERF_RECORD_EXIT
				 : s->kind == FORKED ? PERF_RECORD_FORK
				 : s->kind == LOSS   ? PERF_RECORD_LOST
						     : PERF_RECORD_SWITCH_CPU_WIDE;
			us = offcpu_take(o, 0, &r, &where);
		}
		if (us != s->us) {
			printf("# step %zu\n", i);
			CHECK_EQ(us, s->us);
		}
		if (!us)
			continue;
		place = where;
		CHECK_EQ(place->tid, s->tid);
		CHECK_EQ(place->ip, s->ip);
	}
}

static void intervals_are_counted_where_they_began(void)
{
	static const struct step steps[] = {
		{ RETURNS, 5, MS, 0, 0 }, /* nobody saw it leave */
		{ LEAVES, 10, 2 * MS, 0x401000, 0 },
		{ LEAVES, 11, 3 * MS, 0, 0 },
		{ RETURNS, 10, 5 * MS, 0x401000, 3000 },
		{ RETURNS, 10, 6 * MS, 0, 0 }, /* once */
		{ IS_MADE_TO, 10, 7 * MS, 0x402000, 0 },
		{ RETURNS, 11, 8 * MS, 0, 5000 },
		{ RETURNS, 10, 8 * MS, 0x402000, 1000 },
		{ LEAVES, 0, 8 * MS, 0x1, 0 }, /* the idle task */
		{ RETURNS, 0, 9 * MS, 0, 0 },
		{ LEAVES, 12, 9 * MS, 0x403000, 0 },
		{ RETURNS, 12, 9 * MS + 499, 0, 0 }, /* rounded to microseconds */
		{ LEAVES, 12, 10 * MS, 0x403000, 0 },
		{ RETURNS, 12, 10 * MS + 1500, 0x403000, 2 },
	};
	struct offcpu o = { 0 };

	take(&o, steps, ARRAY_SIZE(steps));
	CHECK_EQ(o.left.count, 0);
	offcpu_done(&o);
}

static void only_waiting_counts_if_asked_for(void)
{
	static const struct step steps[] = {
		{ LEAVES, 10, 2 * MS, 0x401000, 0 },
		{ RETURNS, 10, 5 * MS, 0x401000, 3000 },
		{ IS_MADE_TO, 10, 7 * MS, 0x402000, 0 },
		{ RETURNS, 10, 8 * MS, 0, 0 },
	};
	struct offcpu o = { .blocked_only = true };

	take(&o, steps, ARRAY_SIZE(steps));
	offcpu_done(&o);
}

static void who_exits_does_not_come_back(void)
{
	static const struct step steps[] = {
		{ EXITS, 10, MS, 0, 0 },
		{ IS_MADE_TO, 10, 2 * MS, 0, 0 }, /* not yet for good */
		{ RETURNS, 10, 3 * MS, 0, 0 },
		{ LEAVES, 10, 4 * MS, 0, 0 },
		/* Another task of that number. */
		{ LEAVES, 10, 20 * MS, 0x401000, 0 },
		{ RETURNS, 10, 21 * MS, 0x401000, 1000 },
	};
	struct offcpu o = { 0 };

	take(&o, steps, ARRAY_SIZE(steps));
	CHECK_EQ(o.left.count, 0);
	offcpu_done(&o);
}

/* The kernel has taken its number away when it leaves for good. */
static void who_has_exited_without_a_number_does_not_wait(void)
{
	static const struct step steps[] = {
		{ RETURNS, 10, MS, 0, 0 },
		{ EXITS, 10, 2 * MS, 0, 0 },
		{ IS_MADE_TO, 10, 3 * MS, 0, 0 },
		{ RETURNS, 11, 3 * MS, 0, 0 },
		{ LEAVES, 11, 4 * MS, 0x402000, 0 },
		{ RETURNS, 10, 4 * MS, 0, 0 },
		{ LEAVES, UINT32_MAX, 5 * MS, 0x401000, 0 },
		{ RETURNS, 11, 5 * MS, 0x402000, 1000 },
		{ LEAVES, UINT32_MAX, 6 * MS, 0x401000,
		  0 }, /* it was seen to come, but not to exit */
	};
	struct offcpu o = { 0 };

	take(&o, steps, ARRAY_SIZE(steps));
	CHECK_EQ(o.left.count, 0);
	offcpu_done(&o);
}

static void a_number_that_is_used_again_is_another_task(void)
{
	static const struct step steps[] = {
		{ EXITS, 10, MS, 0, 0 }, /* what follows was not seen */
		{ FORKED, 10, 2 * MS, 0, 0 },
		{ LEAVES, 10, 3 * MS, 0x401000, 0 },
		{ RETURNS, 10, 5 * MS, 0x401000, 2000 },
	};
	struct offcpu o = { 0 };

	take(&o, steps, ARRAY_SIZE(steps));
	offcpu_done(&o);
}

static void after_a_loss_nothing_open_counts(void)
{
	static const struct step steps[] = {
		{ LEAVES, 10, 2 * MS, 0x401000, 0 },
		{ LOSS, 0, 3 * MS, 0, 0 },
		{ RETURNS, 10, 5 * MS, 0, 0 },
	};
	struct offcpu o = { 0 };

	take(&o, steps, ARRAY_SIZE(steps));
	offcpu_done(&o);
}

static void add_up(const void *where, uint64_t us, void *data)
{
	const struct place *place = where;
	uint64_t *sum = data;

	CHECK_EQ(place->ip, 0x401000);
	*sum += us;
}

static void at_the_end_all_are_counted(void)
{
	static const struct step steps[] = {
		{ LEAVES, 10, 2 * MS, 0x401000, 0 },
		{ LEAVES, 11, 3 * MS, 0x401000, 0 },
		{ EXITS, 12, 3 * MS, 0, 0 },
	};
	struct offcpu o = { 0 };
	uint64_t sum = 0;

	take(&o, steps, ARRAY_SIZE(steps));
	offcpu_end(&o, 10 * MS, add_up, &sum);
	CHECK_EQ(sum, 15000);
	sum = 0;
	offcpu_end(&o, 20 * MS, add_up, &sum);
	CHECK_EQ(sum, 0);
	offcpu_done(&o);
}

TESTS(T(intervals_are_counted_where_they_began), T(only_waiting_counts_if_asked_for),
      T(who_exits_does_not_come_back), T(who_has_exited_without_a_number_does_not_wait),
      T(a_number_that_is_used_again_is_another_task), T(after_a_loss_nothing_open_counts),
      T(at_the_end_all_are_counted))
