/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/attribution.h"

#include "base/macro.h"
#include "identity/cookie.h"

/* Mappings read this long after a sample may have changed since. */
enum { STALE_NS = 1000000000 };

/* Identifies the file of @cookie while the process still has it; returns the cookie to count under.
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
		cookie_identify(from->cookies, cookie, &where);
	if (mapping && !image->sampled)
		cookie_keep(from->cookies, cookie, &where);
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

static struct moved_text_from moved_from(const struct attribution *a)
{
	const struct process_source *from = &a->sideband->from;

	return (struct moved_text_from){ &a->sideband->processes, from->cookies, from->root };
}

/* @m, or what takes its place because it is a copy of text. */
static const struct mapping *original_of(struct attribution *a, struct process *p,
					 const struct mapping *m, uint64_t pc)
{
	const struct moved_text_from from = moved_from(a);

	m = moved_text_find(&a->moved, &from, p, m, pc);
	a->memo.changes = a->sideband->processes.changes;
	return m;
}

void attribution_check_moved(struct attribution *a)
{
	const struct moved_text_from from = moved_from(a);

	moved_text_check(&a->moved, &from);
}

/* The mapping that contains @pc. If there is none, and @r is recent, reads the mappings again. */
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

/* Finds the process of @r and remembers it; NULL if it is not known. */
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

/* The remembered range that contains @pc, or NULL. */
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

/* Remembers which part of which image @m is. */
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

/* Looks up the process, then @pc; reads the process again if it has no mapping there. */
static const struct attribution_range *look_up(struct attribution *a, const struct perf_record *r,
					       uint64_t pc)
{
	struct process *p = look_up_process(a, r);
	const struct mapping *m = p ? find_mapping(a, p, r, pc) : NULL;
	const struct attribution_range *range;

	if (m)
		m = original_of(a, p, m, pc);
	if (!m)
		return NULL;
	range = remember(a, p, m);
	/* Reading the process again changes the table. */
	a->memo.app = app_of(a, p);
	a->memo.changes = a->sideband->processes.changes;
	return range;
}

/* The range of a caller at @pc. Only known mappings are searched: a word on a stack is no reason to
 * read /proc. */
static const struct attribution_range *look_up_caller(struct attribution *a,
						      const struct perf_record *r, uint64_t pc)
{
	struct process *p = process_get(&a->sideband->processes, r->pid);
	const struct mapping *m = p && p->maps ? maps_find(p->maps, pc) : NULL;

	if (m)
		m = original_of(a, p, m, pc);
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

void attribution_process(struct attribution *a, const struct perf_record *r)
{
	if (!memo_is_valid(a, r))
		(void)look_up_process(a, r);
}
