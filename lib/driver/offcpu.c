/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/offcpu.h"

#include "base/mem.h"

#include <linux/perf_event.h>

/* Where a task left its CPU. */
struct place {
	bool exiting; /* it has said so: when it leaves for good, it does not come back */
	uint32_t pid, tid;
	uint16_t misc;
	uint64_t time_ns, ip, cgroup;
};

static void forget(struct offcpu *o, uint32_t tid)
{
	free(map_remove(&o->left, tid));
}

static bool is_exiting(const struct offcpu *o, uint32_t tid)
{
	const struct place *place = map_get(&o->left, tid);

	return place && place->exiting;
}

static void note_exit(struct offcpu *o, uint32_t tid)
{
	struct place *place = xcalloc(1, sizeof(*place));

	place->exiting = true;
	free(map_set(&o->left, tid, place));
}

/* The user's address where the task went into the kernel, if it has one: all of them leave in the
 * scheduler. */
static void find_user_ip(struct place *place, const struct perf_record *r)
{
	struct span more = r->more, chain;
	bool user = false;
	uint64_t ip;

	if (perf_record_callchain(&more, &chain) < 0)
		return;
	while (span_u64(&chain, &ip) == 0) {
		if (ip < PERF_CONTEXT_MAX && user) {
			place->ip = ip;
			place->misc = PERF_RECORD_MISC_USER;
			return;
		}
		user = ip == PERF_CONTEXT_USER;
	}
}

static void leave(struct offcpu *o, const struct perf_record *r)
{
	struct place *place;

	if (!r->tid || is_exiting(o, r->tid))
		return; /* nobody waits for the idle task */
	place = xcalloc(1, sizeof(*place));
	*place = (struct place){ .pid = r->pid,
				 .tid = r->tid,
				 .misc = PERF_RECORD_MISC_KERNEL,
				 .time_ns = r->time_ns,
				 .ip = r->ip,
				 .cgroup = r->cgroup };
	find_user_ip(place, r);
	free(map_set(&o->left, r->tid, place));
}

static uint64_t interval_us(const struct place *place, uint64_t now_ns)
{
	return now_ns > place->time_ns ? (now_ns - place->time_ns + 500) / 1000 : 0;
}

static void fill(const struct place *place, struct perf_record *ret)
{
	*ret = (struct perf_record){ .type = PERF_RECORD_SAMPLE,
				     .misc = place->misc,
				     .pid = place->pid,
				     .tid = place->tid,
				     .time_ns = place->time_ns,
				     .ip = place->ip,
				     .cgroup = place->cgroup };
}

static uint64_t come_back(struct offcpu *o, const struct perf_record *r, struct perf_record *ret)
{
	_cleanup_free_ struct place *place =
		is_exiting(o, r->tid) ? NULL : map_remove(&o->left, r->tid);
	uint64_t us = place ? interval_us(place, r->time_ns) : 0;

	if (us)
		fill(place, ret);
	return us;
}

static uint64_t take_switch(struct offcpu *o, const struct perf_record *r, struct perf_record *ret)
{
	bool made_to = r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;

	if (!(r->misc & PERF_RECORD_MISC_SWITCH_OUT))
		return come_back(o, r, ret);
	if (is_exiting(o, r->tid) ? !made_to : made_to && o->blocked_only)
		forget(o, r->tid);
	return 0;
}

uint64_t offcpu_take(struct offcpu *o, const struct perf_record *r, struct perf_record *ret)
{
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		leave(o, r);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return take_switch(o, r, ret);
	case PERF_RECORD_EXIT:
		note_exit(o, r->tid);
		break;
	case PERF_RECORD_LOST:
		offcpu_done(o);
		break;
	default: /* a mapping and the like */
		break;
	}
	return 0;
}

void offcpu_end(struct offcpu *o, uint64_t now_ns,
		void (*each)(const struct perf_record *left, uint64_t us, void *data), void *data)
{
	struct perf_record left;

	map_for_each (&o->left, slot) {
		const struct place *place = slot->value;
		uint64_t us = place->exiting ? 0 : interval_us(place, now_ns);

		fill(place, &left);
		if (us)
			each(&left, us, data);
	}
	offcpu_done(o);
}

void offcpu_done(struct offcpu *o)
{
	map_for_each (&o->left, slot)
		free(slot->value);
	map_done(&o->left);
}
