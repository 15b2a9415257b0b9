/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/perf_offcpu.h"

#include "base/mem.h"
#include "driver/perf/perf_samples.h"
#include "perf/user_stack.h"
#include "symbol/kallsyms.h"

#include <string.h>

/* The place where a task left the CPU. */
struct place {
	struct perf_samples_found found;
	struct evbuf_frame frames[];
};

void perf_offcpu_init(struct perf_offcpu *o, const struct attribution *like, unsigned int counter,
		      const char *root)
{
	*o = (struct perf_offcpu){ .attribution = *like, .counter = counter };
	o->chains = like->frames != NULL;
	o->attribution.stats = &o->stats;
	if (!o->chains) {
		o->attribution.frames = &o->one;
		o->attribution.depth = 1;
	}
	kallsyms_scheduler(root, &o->sched_start, &o->sched_end);
}

void perf_offcpu_done(struct perf_offcpu *o)
{
	offcpu_done(&o->offcpu);
}

/* Finds the user address where the task entered the kernel, if it has one. */
static bool find_user_ip(const struct perf_offcpu *o, const struct perf_record *r, uint64_t *ret)
{
	struct span more = r->more, chain;
	struct unwind_frame frame;
	struct user_stack stack;
	bool user = false;

	if (perf_record_callchain(&more, &chain) < 0)
		return false;
	if (o->attribution.unwinder) {
		if (user_stack_decode(&more, &stack) <= 0)
			return false;
		user_stack_frame(&stack, &frame);
		*ret = frame.pc;
		return true;
	}
	while (span_u64(&chain, ret) == 0) {
		if (*ret < PERF_CONTEXT_MAX && user)
			return true;
		user = *ret == PERF_CONTEXT_USER;
	}
	return false;
}

/* Fills in the kernel addresses of @r, starting with the scheduler's caller: all tasks leave in the
 * scheduler. */
static void find_kernel(struct perf_offcpu *o, const struct perf_record *r,
			struct perf_samples_found *ret)
{
	struct attribution *a = &o->attribution;
	struct span more = r->more, chain;
	bool inside = false, out = false;
	uint64_t address;

	a->frames[0] = (struct evbuf_frame){ EVBUF_KERNEL, r->ip };
	ret->count = 0;
	if (perf_record_callchain(&more, &chain) < 0)
		chain = span_of(NULL, 0);
	while (ret->count < a->depth && span_u64(&chain, &address) == 0) {
		bool in_scheduler = address >= o->sched_start && address < o->sched_end;

		if (address == PERF_CONTEXT_USER)
			break;
		out |= inside && !in_scheduler;
		inside |= in_scheduler;
		if (address < PERF_CONTEXT_MAX && out)
			a->frames[ret->count++] = (struct evbuf_frame){ EVBUF_KERNEL, address };
	}
	ret->count = MAX(ret->count, (size_t)1);
	ret->end = a->memo.kernel ? CHAIN_END_COMPLETE : CHAIN_END_NO_USER;
}

bool perf_offcpu_leave(struct perf_offcpu *o, const struct perf_record *r, uint64_t now_ns)
{
	struct perf_record at = *r;
	struct perf_samples_found found;
	struct place *place;

	o->attribution.now_ns = now_ns;
	if (!r->tid || perf_samples_are_filtered(&o->attribution, r))
		return true;
	if (find_user_ip(o, r, &at.ip))
		at.misc = PERF_RECORD_MISC_USER;
	if (!perf_samples_find(&o->attribution, 0, &at, &found))
		return true;
	if (found.waits)
		return false;
	if (at.misc != PERF_RECORD_MISC_USER)
		find_kernel(o, r, &found);
	place = xmalloc(sizeof(*place) + found.count * sizeof(place->frames[0]));
	*place = (struct place){ .found = found };
	memcpy(place->frames, o->attribution.frames, found.count * sizeof(place->frames[0]));
	offcpu_leave(&o->offcpu, r->tid, r->time_ns, place);
	return true;
}

/* Counts an interval off the CPU as one sample. */
static void put(const void *where, uint64_t us, void *data)
{
	const struct place *place = where;
	struct perf_offcpu *o = data;
	struct evbuf *out = o->attribution.out;
	struct evbuf_context context = place->found.context;

	if (us < o->min_us)
		return;
	o->stats.offcpu_intervals++;
	offcpu_square(&o->squares, us);
	context.cpu = o->cpu;
	evbuf_context(out, &context);
	if (o->chains)
		evbuf_chain(out, place->frames, place->found.count,
			    &(struct evbuf_trace){ o->counter, us, place->found.end });
	else if (place->frames[0].cookie == EVBUF_KERNEL)
		evbuf_kernel_sample(out, place->frames[0].offset, o->counter, us);
	else
		evbuf_sample(out, place->frames[0].cookie, place->frames[0].offset, o->counter, us);
}

void perf_offcpu_change(struct perf_offcpu *o, unsigned int cpu, const struct perf_record *r)
{
	_cleanup_free_ void *place = NULL;
	uint64_t us = offcpu_take(&o->offcpu, cpu, r, &place);

	o->cpu = cpu;
	if (us)
		put(place, us, o);
}

void perf_offcpu_end(struct perf_offcpu *o, uint64_t now_ns)
{
	offcpu_end(&o->offcpu, now_ns, put, o);
}

void perf_offcpu_stats(const struct perf_offcpu *o, struct driver_stats *ret)
{
	ret->offcpu_intervals = o->stats.offcpu_intervals;
	if (o->stats.offcpu_intervals)
		offcpu_stats_squares(&(struct evoffcpu){ .total = true }, &o->squares, ret);
	ret->offcpu_lost = o->stats.sample_lost_no_mapping + o->stats.sample_lost_no_mm +
			   o->stats.sample_lost_no_tree + o->stats.sample_lost_no_path;
}
