/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/attribution.h"

#include "base/macro.h"
#include "driver/cookie.h"

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

/* The mapping that holds @pc; mappings are read again where there is none. */
static const struct mapping *find_mapping(struct attribution *a, struct process *p, uint32_t tid,
					  uint64_t pc)
{
	const struct mapping *mapping = p->maps ? maps_find(p->maps, pc) : NULL;

	if (!mapping && sideband_read_again(a->sideband, p, tid, a->now_ns) && p->maps)
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
	};
	return p;
}

static void look_up_mapping(struct attribution *a, struct process *p, const struct perf_record *r)
{
	struct cookie_table *cookies = a->sideband->from.cookies;
	const struct mapping *m = find_mapping(a, p, r->tid, r->ip);

	if (!m)
		return;
	a->memo.start = m->start;
	a->memo.end = m->end;
	a->memo.offset = m->offset;
	if (m->cookie)
		a->memo.cookie = identify(a, m->cookie, p->tgid, m);
	else
		a->memo.cookie =
			cookie_anon(cookies, p->tgid, m->start - m->offset, m->end, m->label);
	/* Reading the process again changes the table. */
	a->memo.app = app_of(a, p);
	a->memo.changes = a->sideband->processes.changes;
}

static bool memo_is_valid(const struct attribution *a, const struct perf_record *r)
{
	return _likely_(a->memo.changes == a->sideband->processes.changes &&
			a->memo.tgid == r->pid && !a->memo.unknown);
}

static bool memo_covers(const struct attribution *a, uint64_t pc)
{
	return _likely_(pc >= a->memo.start && pc < a->memo.end);
}

static void set_context(struct attribution *a, unsigned int cpu, const struct perf_record *r,
			uint64_t app)
{
	evbuf_context(a->out, &(struct evbuf_context){
				      .cpu = cpu, .tgid = r->pid, .tid = r->tid, .app = app });
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

static void place_user_sample(struct attribution *a, unsigned int cpu, unsigned int counter,
			      const struct perf_record *r)
{
	struct attribution_memo *memo = &a->memo;
	struct process *p;

	if (!memo_is_valid(a, r) || !memo_covers(a, r->ip)) {
		p = look_up_process(a, r);
		if (!p) {
			a->stats->sample_lost_no_mm++;
			return;
		}
		look_up_mapping(a, p, r);
		if (!memo_covers(a, r->ip)) {
			a->stats->sample_lost_no_mapping++;
			return;
		}
	}
	set_context(a, cpu, r, memo->app);
	evbuf_sample(a->out, memo->cookie, r->ip - memo->start + memo->offset, counter, 1);
}

/* Where a kernel sample is, is known even of a process that has gone, or has not got its program
 * yet; its application is then called "unknown". */
static void place_kernel_sample(struct attribution *a, unsigned int cpu, unsigned int counter,
				const struct perf_record *r)
{
	uint64_t app;

	if (!memo_is_valid(a, r))
		(void)look_up_process(a, r);
	app = a->memo.app != EVBUF_NO_COOKIE ? a->memo.app
					     : cookie_thread(a->sideband->from.cookies, "unknown");
	set_context(a, cpu, r, app);
	evbuf_kernel_sample(a->out, r->ip, counter, 1);
}

void attribution_sample(struct attribution *a, unsigned int cpu, unsigned int counter,
			const struct perf_record *r)
{
	a->stats->sample_received++;
	if (_unlikely_(is_filtered(a, r))) {
		a->stats->sample_filtered++;
		return;
	}
	switch (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_USER:
		place_user_sample(a, cpu, counter, r);
		break;
	case PERF_RECORD_MISC_KERNEL:
		place_kernel_sample(a, cpu, counter, r);
		break;
	default: /* a hypervisor's or a guest's address means nothing here */
		a->stats->sample_lost_no_mapping++;
		break;
	}
}
