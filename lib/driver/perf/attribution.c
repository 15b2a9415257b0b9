/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/attribution.h"

#include "base/macro.h"
#include "driver/perf/perf_chain.h"
#include "identity/cookie.h"

/* After so long a process may be at something else: what it has mapped now says nothing of then. */
enum { STALE_NS = 1000000000 };

/* Looks for the file behind @cookie while the process can still show it; the cookie to count under.
 */
static uint64_t identify(struct attribution *a, uint64_t cookie, uint32_t tgid,
			 const struct mapping *mapping)
{
	const struct process_source *from = &a->sideband->from;
	const struct cookie_image *image = cookie_lookup(from->cookies, cookie);
	struct cookie_mapped where = { from->root, tgid, mapping ? mapping->start : 0,
				       mapping ? mapping->end : 0 };

	if (!image || image->kind != COOKIE_FILE)
		return cookie;
	if (!image->identified)
		cookie_identify(from->cookies, cookie, where.root, tgid, where.start, where.end);
	return cookie_renew(from->cookies, cookie, &where, a->now_ns);
}

/* The application of a process: what it executes, or the name of a kernel thread. */
static uint64_t app_of(struct attribution *a, struct process *p)
{
	if (p->kernel && !p->app)
		p->app = cookie_thread(a->sideband->from.cookies, p->name);
	else if (!p->kernel && p->app)
		p->app = identify(a, p->app, p->tgid, NULL);
	return p->app;
}

/* The mapping that holds @pc; mappings are read again where there is none, and @r is recent. */
static const struct mapping *find_mapping(struct attribution *a, struct process *p,
					  const struct perf_record *r, uint64_t pc)
{
	const struct mapping *mapping = p->maps ? maps_find(p->maps, pc) : NULL;

	if (mapping || r->time_ns + STALE_NS < a->now_ns)
		return mapping;
	if (sideband_read_again(a->sideband, p, r->tid, a->now_ns) && p->maps)
		mapping = maps_find(p->maps, pc);
	return mapping;
}

/* Remembers who @r belongs to; NULL if nobody is known. */
static struct process *look_up_process(struct attribution *a, const struct perf_record *r)
{
	struct process *p = sideband_process(a->sideband, r->pid, r->tid, a->now_ns);

	a->memo = (struct attribution_memo){
		.changes = a->sideband->processes.changes,
		.tgid = r->pid,
		.app = p ? app_of(a, p) : EVBUF_NO_COOKIE,
		.unknown = !p,
		.kernel = p && p->kernel,
	};
	return p;
}

static bool memo_is_valid(const struct attribution *a, const struct perf_record *r)
{
	return _likely_(a->memo.changes == a->sideband->processes.changes &&
			a->memo.tgid == r->pid && !a->memo.unknown);
}

static bool covers(const struct attribution_range *range, uint64_t pc)
{
	return pc >= range->start && pc < range->end;
}

/* The range remembered that holds @pc, or NULL. */
static const struct attribution_range *memo_range(struct attribution_memo *memo, uint64_t pc)
{
	unsigned int i;

	if (_likely_(covers(&memo->ranges[memo->last], pc)))
		return &memo->ranges[memo->last];
	for (i = 0; i < ATTRIBUTION_RANGES; i++) {
		if (!covers(&memo->ranges[i], pc))
			continue;
		memo->last = i;
		return &memo->ranges[i];
	}
	return NULL;
}

/* Remembers where @m lies in its image. */
static const struct attribution_range *remember(struct attribution *a, const struct process *p,
						const struct mapping *m)
{
	struct attribution_memo *memo = &a->memo;
	struct attribution_range *range = &memo->ranges[memo->next];

	memo->last = memo->next;
	memo->next = (memo->next + 1) % ATTRIBUTION_RANGES;
	*range = (struct attribution_range){ m->start, m->end, 0, m->offset };
	range->cookie = m->cookie ? identify(a, m->cookie, p->tgid, m)
				  : cookie_anon(a->sideband->from.cookies, p->tgid,
						m->start - m->offset, m->end, m->label);
	return range;
}

/* Looks the process up, then @pc; reads the process again where it has no mapping there. */
static const struct attribution_range *look_up(struct attribution *a, const struct perf_record *r,
					       uint64_t pc)
{
	struct process *p = look_up_process(a, r);
	const struct mapping *m = p ? find_mapping(a, p, r, pc) : NULL;
	const struct attribution_range *range;

	if (!m)
		return NULL;
	range = remember(a, p, m);
	/* Reading the process again changes the table. */
	a->memo.app = app_of(a, p);
	a->memo.changes = a->sideband->processes.changes;
	return range;
}

/* The range of a caller at @pc: looked up among what is known only, for what stands on a stack is
 * no reason to read anything. */
static const struct attribution_range *look_up_caller(struct attribution *a,
						      const struct perf_record *r, uint64_t pc)
{
	const struct process *p = process_get(&a->sideband->processes, r->pid);
	const struct mapping *m = p && p->maps ? maps_find(p->maps, pc) : NULL;

	return m ? remember(a, p, m) : NULL;
}

bool attribution_user_frame(struct attribution *a, const struct perf_record *r, uint64_t pc,
			    bool is_caller, struct evbuf_frame *ret)
{
	uint64_t at = is_caller ? pc - 1 : pc;
	const struct attribution_range *range = NULL;

	if (memo_is_valid(a, r)) {
		range = memo_range(&a->memo, at);
		if (!range && is_caller)
			range = look_up_caller(a, r, at);
	}
	if (!range && !is_caller)
		range = look_up(a, r, at);
	if (!range)
		return false;
	*ret = (struct evbuf_frame){ range->cookie, pc - range->start + range->offset };
	return true;
}

static struct evbuf_context context_of(struct attribution *a, unsigned int cpu,
				       const struct perf_record *r, uint64_t app)
{
	struct evbuf_context context = { .cpu = cpu, .tgid = r->pid, .tid = r->tid, .app = app };

	if (a->cgroups)
		context.cgroup = cgroups_cookie(a->cgroups, r->cgroup, a->now_ns);
	return context;
}

static void set_context(struct attribution *a, unsigned int cpu, const struct perf_record *r,
			uint64_t app)
{
	const struct evbuf_context context = context_of(a, cpu, r, app);

	evbuf_context(a->out, &context);
}

/* Whether the sample's process is one of those that are left out. */
static bool is_filtered(const struct attribution *a, const struct perf_record *r)
{
	const struct process *p;

	if (!a->sideband->follow)
		return false;
	p = process_get(&a->sideband->processes, r->pid);
	return !p || !p->followed || p->waiting;
}

/* Puts the sample into the event buffer, with its callers if they are asked for. */
static void put(struct attribution *a, unsigned int counter, const struct perf_record *r,
		const struct evbuf_frame *leaf)
{
	uint64_t weight = MAX(a->weight, 1ULL);
	struct evbuf_trace trace = { .counter = counter, .weight = weight };
	size_t count;

	if (a->frames) {
		a->frames[0] = *leaf;
		count = perf_chain_callers(a, r, &trace.end);
		evbuf_chain(a->out, a->frames, count, &trace);
	} else if (leaf->cookie == EVBUF_KERNEL) {
		evbuf_kernel_sample(a->out, leaf->offset, counter, weight);
	} else {
		evbuf_sample(a->out, leaf->cookie, leaf->offset, counter, weight);
	}
}

/* What a sample adds to a counter of samples. */
static uint64_t count_of(const struct attribution *a)
{
	return MAX(a->weight, 1ULL);
}

static bool find_user(struct attribution *a, const struct perf_record *r, uint64_t *ret_app,
		      struct evbuf_frame *ret)
{
	if (!attribution_user_frame(a, r, r->ip, false, ret)) {
		if (a->memo.unknown)
			a->stats->sample_lost_no_mm += count_of(a);
		else
			a->stats->sample_lost_no_mapping += count_of(a);
		return false;
	}
	*ret_app = a->memo.app;
	return true;
}

/* The application of the sample looked up last; one that nobody knows is called "unknown". */
static uint64_t app_of_sample(struct attribution *a)
{
	return a->memo.app != EVBUF_NO_COOKIE ? a->memo.app
					      : cookie_thread(a->sideband->from.cookies, "unknown");
}

/* Finds where the sample itself is, and whose; false, counted, if that is not known. Where a kernel
 * sample is, is known even of a process that has gone, or has not got its program yet; its
 * application is then called "unknown". */
static bool find_leaf(struct attribution *a, const struct perf_record *r, uint64_t *ret_app,
		      struct evbuf_frame *ret)
{
	switch (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_USER:
		return find_user(a, r, ret_app, ret);
	case PERF_RECORD_MISC_KERNEL:
		if (!memo_is_valid(a, r))
			(void)look_up_process(a, r);
		*ret_app = app_of_sample(a);
		*ret = (struct evbuf_frame){ EVBUF_KERNEL, r->ip };
		return true;
	default: /* a hypervisor's or a guest's address means nothing here */
		a->stats->sample_lost_no_mapping += count_of(a);
		return false;
	}
}

bool attribution_find(struct attribution *a, unsigned int cpu, const struct perf_record *r,
		      struct attribution_found *ret)
{
	uint64_t app;

	*ret = (struct attribution_found){ .count = 1 };
	if (!find_leaf(a, r, &app, &a->frames[0]))
		return false;
	ret->context = context_of(a, cpu, r, app);
	if (a->depth > 1)
		ret->count = perf_chain_callers(a, r, &ret->end);
	return true;
}

void attribution_sample(struct attribution *a, unsigned int cpu, unsigned int counter,
			const struct perf_record *r)
{
	struct evbuf_frame leaf;
	uint64_t app;

	a->stats->sample_received += count_of(a);
	if (_unlikely_(is_filtered(a, r))) {
		a->stats->sample_filtered += count_of(a);
		return;
	}
	if (!find_leaf(a, r, &app, &leaf))
		return;
	set_context(a, cpu, r, app);
	put(a, counter, r, &leaf);
}

bool attribution_words(struct attribution *a, unsigned int cpu, const struct perf_record *r,
		       enum evbuf_code code, uint64_t *words, size_t count)
{
	struct evbuf_frame at = { EVBUF_KERNEL, r->ip };
	bool kernel = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;

	if (kernel && !memo_is_valid(a, r))
		(void)look_up_process(a, r);
	else if (!kernel && !attribution_user_frame(a, r, r->ip, false, &at))
		return false;
	set_context(a, cpu, r, app_of_sample(a));
	evbuf_words_at(a->out, code, &at, words, count);
	return true;
}

bool attribution_filtered(const struct attribution *a, const struct perf_record *r)
{
	return is_filtered(a, r);
}
