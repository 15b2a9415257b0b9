/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/offcpu.h"

#include "base/mem.h"

#include <linux/perf_event.h>
#include <string.h>

/* The number in the records of a task that has exited and was reaped: a thread, mostly. */
enum { REAPED = UINT32_MAX };

struct left {
	bool exiting; /* it has exited, so it will not come back */
	uint64_t time_ns;
	void *place;
};

static void left_free(struct left *left)
{
	if (left)
		free(left->place);
	free(left);
}

DEFINE_CLEANUP(struct left *, left_free);

static void forget(struct offcpu *o, uint32_t tid)
{
	left_free(map_remove(&o->left, tid));
}

static bool is_exiting(const struct offcpu *o, uint32_t tid)
{
	const struct left *left = map_get(&o->left, tid);

	return left && left->exiting;
}

static void note(struct offcpu *o, uint32_t tid, const struct left *what)
{
	struct left *left = xmalloc(sizeof(*left));

	*left = *what;
	left_free(map_set(&o->left, tid, left));
}

void offcpu_leave(struct offcpu *o, uint32_t tid, uint64_t time_ns, void *place)
{
	/* The idle task does not count. */
	if (!tid || tid == REAPED || is_exiting(o, tid))
		free(place);
	else
		note(o, tid, &(struct left){ .time_ns = time_ns, .place = place });
}

static uint64_t interval_us(const struct left *left, uint64_t now_ns)
{
	return now_ns > left->time_ns ? (now_ns - left->time_ns + 500) / 1000 : 0;
}

static uint64_t come_back(struct offcpu *o, const struct perf_record *r, void **ret_place)
{
	_cleanup_(left_freep) struct left *left =
		is_exiting(o, r->tid) ? NULL : map_remove(&o->left, r->tid);
	uint64_t us = left ? interval_us(left, r->time_ns) : 0;

	if (us)
		*ret_place = STEAL(left->place);
	return us;
}

/* The task that runs on @cpu. */
static uint32_t *running(struct offcpu *o, unsigned int cpu)
{
	size_t room = o->room;

	array_grow(&o->running, (size_t)cpu + 1, &o->room);
	if (o->room > room)
		memset(o->running + room, 0, (o->room - room) * sizeof(*o->running));
	return &o->running[cpu];
}

static uint64_t take_switch(struct offcpu *o, unsigned int cpu, const struct perf_record *r,
			    void **ret_place)
{
	bool made_to = r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	uint32_t tid = r->tid;

	if (!(r->misc & PERF_RECORD_MISC_SWITCH_OUT)) {
		*running(o, cpu) = tid;
		return come_back(o, r, ret_place);
	}
	if (tid == REAPED)
		tid = *running(o, cpu);
	if (is_exiting(o, tid) ? !made_to : made_to && o->blocked_only)
		forget(o, tid);
	return 0;
}

uint64_t offcpu_take(struct offcpu *o, unsigned int cpu, const struct perf_record *r,
		     void **ret_place)
{
	switch (r->type) {
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return take_switch(o, cpu, r, ret_place);
	case PERF_RECORD_FORK:
		/* Its number may have belonged to a task whose end was not seen. */
		forget(o, r->tid);
		break;
	case PERF_RECORD_EXIT:
		note(o, r->tid, &(struct left){ .exiting = true });
		break;
	case PERF_RECORD_LOST:
		offcpu_done(o);
		break;
	default: /* mappings and others */
		break;
	}
	return 0;
}

void offcpu_end(struct offcpu *o, uint64_t now_ns,
		void (*each)(const void *place, uint64_t us, void *data), void *data)
{
	map_for_each (&o->left, slot) {
		const struct left *left = slot->value;
		uint64_t us = left->exiting ? 0 : interval_us(left, now_ns);

		if (us)
			each(left->place, us, data);
	}
	offcpu_done(o);
}

void offcpu_done(struct offcpu *o)
{
	map_for_each (&o->left, slot)
		left_free(slot->value);
	map_done(&o->left);
	free(o->running);
	o->running = NULL;
	o->room = 0;
}
