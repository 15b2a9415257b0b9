/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/perf_samples.h"

#include "base/macro.h"
#include "driver/perf/perf_chain.h"
#include "driver/perf/thread_names.h"
#include "identity/cookie.h"

static struct evbuf_context context_of(struct attribution *a, unsigned int cpu,
				       const struct perf_record *r, uint64_t app)
{
	struct evbuf_context context = { .cpu = cpu, .tgid = r->pid, .tid = r->tid, .app = app };

	if (a->cgroups)
		context.cgroup = cgroups_cookie(a->cgroups, r->cgroup, a->now_ns);
	if (a->names)
		context.comm =
			cookie_comm(a->sideband->from.cookies, thread_names_of(a->names, r->tid));
	return context;
}

static void set_context(struct attribution *a, unsigned int cpu, const struct perf_record *r,
			uint64_t app)
{
	const struct evbuf_context context = context_of(a, cpu, r, app);

	evbuf_context(a->out, &context);
}

bool perf_samples_are_filtered(const struct attribution *a, const struct perf_record *r)
{
	const struct process *p;

	if (!a->sideband->follow)
		return false;
	p = process_get(&a->sideband->processes, r->pid);
	return !p || !p->followed || p->waiting;
}

/* Whether the chain that was looked for last waits for what it needs. */
static bool waits(const struct attribution *a)
{
	return (a->unwinder && unwinder_waits(a->unwinder)) ||
	       (a->trampolines && trampolines_waits(a->trampolines));
}

/* Writes the sample to the event buffer, with its callers if they are asked for; returns whether it
 * need not wait. */
static bool put(struct attribution *a, unsigned int counter, const struct perf_record *r,
		const struct evbuf_frame *leaf)
{
	uint64_t weight = MAX(a->weight, 1ULL);
	struct evbuf_trace trace = { .counter = counter, .weight = weight };
	size_t count;

	if (a->frames) {
		a->frames[0] = *leaf;
		count = perf_chain_callers(a, r, &trace.end);
		if (waits(a))
			return false;
		evbuf_chain(a->out, a->frames, count, &trace);
	} else if (leaf->cookie == EVBUF_KERNEL) {
		evbuf_kernel_sample(a->out, leaf->offset, counter, weight);
	} else {
		evbuf_sample(a->out, leaf->cookie, leaf->offset, counter, weight);
	}
	return true;
}

/* How many samples this one counts as. */
static uint64_t count_of(const struct attribution *a)
{
	return MAX(a->weight, 1ULL);
}

static bool find_user(struct attribution *a, const struct perf_record *r, uint64_t *ret_app,
		      struct evbuf_frame *ret)
{
	if (!attribution_user_frame(a, r, r->ip, false, ret)) {
		if (a->sideband->waits)
			return false;
		if (a->memo.unknown)
			a->stats->sample_lost_no_mm += count_of(a);
		else
			a->stats->sample_lost_no_mapping += count_of(a);
		return false;
	}
	*ret_app = a->memo.app;
	return true;
}

/* The application of the process that was looked up last, "unknown" if there is none. */
static uint64_t app_of_sample(struct attribution *a)
{
	return a->memo.app != EVBUF_NO_COOKIE ? a->memo.app
					      : cookie_thread(a->sideband->from.cookies, "unknown");
}

/* Finds the place and the application of the sample itself. Returns false, and counts it, if the
 * place is not known. That of a kernel sample is known even if the process is gone, or has no
 * executable yet; its application is then "unknown". */
static bool find_leaf(struct attribution *a, const struct perf_record *r, uint64_t *ret_app,
		      struct evbuf_frame *ret)
{
	switch (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_USER:
		return find_user(a, r, ret_app, ret);
	case PERF_RECORD_MISC_KERNEL:
		attribution_process(a, r);
		*ret_app = app_of_sample(a);
		*ret = (struct evbuf_frame){ EVBUF_KERNEL, r->ip };
		return true;
	default: /* an address of a hypervisor or a guest cannot be looked up */
		a->stats->sample_lost_no_mapping += count_of(a);
		return false;
	}
}

bool perf_samples_find(struct attribution *a, unsigned int cpu, const struct perf_record *r,
		       struct perf_samples_found *ret)
{
	uint64_t app;
	bool found;

	*ret = (struct perf_samples_found){ .count = 1 };
	found = find_leaf(a, r, &app, &a->frames[0]);
	ret->waits = a->sideband->waits;
	if (!found || ret->waits)
		return ret->waits;
	ret->context = context_of(a, cpu, r, app);
	if (a->depth > 1)
		ret->count = perf_chain_callers(a, r, &ret->end);
	ret->waits = waits(a);
	return true;
}

bool perf_samples_put(struct attribution *a, unsigned int cpu, unsigned int counter,
		      const struct perf_record *r)
{
	struct evbuf_frame leaf;
	uint64_t app;
	bool found;

	if (_unlikely_(perf_samples_are_filtered(a, r))) {
		a->stats->sample_received += count_of(a);
		a->stats->sample_filtered += count_of(a);
		return true;
	}
	found = find_leaf(a, r, &app, &leaf);
	if (_unlikely_(a->sideband->waits))
		return false;
	if (found) {
		set_context(a, cpu, r, app);
		if (!put(a, counter, r, &leaf))
			return false;
	}
	a->stats->sample_received += count_of(a);
	return true;
}

/* Finds the place of a sample that cannot wait. */
static bool find_now(struct attribution *a, const struct perf_record *r, struct evbuf_frame *ret)
{
	bool may_wait = a->sideband->may_wait, is_found = true;

	a->sideband->may_wait = false;
	if ((r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		attribution_process(a, r);
	else
		is_found = attribution_user_frame(a, r, r->ip, false, ret);
	a->sideband->may_wait = may_wait;
	return is_found;
}

bool perf_samples_put_words(struct attribution *a, unsigned int cpu, const struct perf_record *r,
			    enum evbuf_code code, uint64_t *words, size_t count)
{
	struct evbuf_frame at = { EVBUF_KERNEL, r->ip };

	if (!find_now(a, r, &at))
		return false;
	set_context(a, cpu, r, app_of_sample(a));
	evbuf_words_at(a->out, code, &at, words, count);
	return true;
}
