/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perfdata/perf_feed.h"

#include "base/macro.h"
#include "base/map.h"
#include "base/mem.h"
#include "identity/cookie.h"
#include "perf/callchain.h"
#include "perfdata/internal/perf_images.h"
#include "perfdata/perf_file.h"
#include "process/process.h"
#include "stream/evbuf.h"

#include <string.h>

/* The depth at which the kernel cuts chains by default (kernel.perf_event_max_stack). */
enum { DEPTH_DEFAULT = 127 };

struct feed {
	const struct perf_feed_config *config;
	const struct perf_file *file;
	const struct perf_file_event *events;
	struct driver_stats *stats;
	struct perf_images *images;
	struct process_table processes;
	struct map names; /* thread: cookie of its name */
	struct evbuf_frame frames[EVBUF_FRAMES_MAX];
};

struct walk {
	struct feed *feed;
	struct process *process; /* NULL: unknown */
	struct callchain chain;
	size_t count;
	bool lost; /* an address was in no mapping */
};

/* --- what processes do --- */

static int take_ids(struct span *in, uint32_t *pid, uint32_t *tid)
{
	return span_u32(in, pid) < 0 ? -EBADMSG : span_u32(in, tid);
}

static void set_name(struct feed *f, uint32_t tid, const char *name)
{
	(void)map_set(&f->names, tid, (void *)(uintptr_t)cookie_comm(f->config->cookies, name));
}

/* The process, made if no record has named it before: its first mapping will be the application. */
static struct process *process_of(struct feed *f, uint32_t pid)
{
	struct process *p = process_get(&f->processes, pid);

	if (p)
		return p;
	p = process_make(&f->processes, pid);
	process_exec(&f->processes, p, "");
	return p;
}

static int apply_comm(struct feed *f, const struct perf_file_record *r)
{
	struct span in = r->payload;
	struct process *p;
	const char *name;
	uint32_t pid, tid;

	if (take_ids(&in, &pid, &tid) < 0 || !(name = span_string(&in)))
		return -EBADMSG;
	p = process_of(f, pid);
	if (r->misc & PERF_RECORD_MISC_COMM_EXEC)
		process_exec(&f->processes, p, name);
	else if (pid == tid)
		process_rename(&f->processes, p, name);
	set_name(f, tid, name);
	return 0;
}

/* pid, ppid, tid, ptid */
static int apply_fork(struct feed *f, const struct perf_file_record *r)
{
	struct span in = r->payload;
	uint32_t pid, parent, tid, parent_tid;
	void *name;

	if (take_ids(&in, &pid, &parent) < 0 || take_ids(&in, &tid, &parent_tid) < 0)
		return -EBADMSG;
	name = map_get(&f->names, parent_tid);
	if (name)
		(void)map_set(&f->names, tid, name);
	if (pid == parent)
		return 0; /* a thread */
	/* What perf says of processes that ran before, which have nothing of their parent. */
	if (r->misc & PERF_RECORD_MISC_FORK_EXEC || !r->time_ns)
		(void)process_of(f, pid);
	else
		(void)process_fork(&f->processes, parent, pid);
	return 0;
}

static const char vdso[] = "[vdso]";

static void add_mapping(struct feed *f, const struct perf_file_map *map)
{
	const struct mapping_source source = { .start = map->start,
					       .end = map->end,
					       .offset = map->offset,
					       .file = map->file,
					       .path = map->path };
	struct process *p = process_of(f, map->pid);
	struct mapping m = { .start = map->start, .end = map->end };
	bool awaits_app = p->exec;

	if (!strcmp(map->path, vdso) && !f->config->is_own_vdso) {
		m.label = vdso;
	} else if (map->id.size && *map->path == '/' && map->path[1] != '/') {
		m.cookie = perf_images_cookie(f->images, map->path, &map->id);
		m.offset = map->offset;
	} else {
		mapping_from(&source, f->config->cookies, &m);
	}
	p->kernel = false;
	/* The vdso is no application. */
	p->exec &= map->path[0] == '/';
	process_map(&f->processes, p, &m);
	p->exec |= awaits_app && map->path[0] != '/';
}

static int apply_map(struct feed *f, const struct perf_file_record *r)
{
	struct perf_file_map map;

	if (perf_file_map(r, &map) < 0)
		return -EBADMSG;
	/* Those of the kernel are perf_machine.c's. */
	if ((r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER)
		add_mapping(f, &map);
	return 0;
}

/* start, length, type, flags, name */
static int apply_kernel_code(struct feed *f, const struct perf_file_record *r)
{
	struct span in = r->payload;
	uint64_t start;
	uint32_t length, type_flags;
	const char *name;

	if (span_u64(&in, &start) < 0 || span_u32(&in, &length) < 0 ||
	    span_u32(&in, &type_flags) < 0 || !(name = span_string(&in)))
		return -EBADMSG;
	if (!(type_flags >> 16 & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER))
		evbuf_kernel_code(f->config->out, start, length,
				  cookie_code(f->config->cookies, name));
	return 0;
}

/* id, count; of LOST_SAMPLES the count alone */
static int apply_lost(struct feed *f, const struct perf_file_record *r)
{
	struct span in = r->payload;
	uint64_t lost;

	if ((r->type == PERF_RECORD_LOST && !span_take(&in, sizeof(lost))) ||
	    span_u64(&in, &lost) < 0)
		return -EBADMSG;
	f->stats->sample_lost_overflow += lost;
	return 0;
}

static int apply_throttle(struct feed *f, const struct perf_file_record *r _unused_)
{
	f->stats->throttled++;
	return 0;
}

/* --- samples --- */

/* The cookie of memory without a file. The vdso is the same in all processes. */
static uint64_t memory_cookie(struct feed *f, const struct process *p, const struct mapping *m)
{
	if (m->label == vdso)
		return cookie_anon(f->config->cookies, 0, 0, m->end - m->start, vdso);
	return cookie_anon(f->config->cookies, p->tgid, m->start - m->offset, m->end, m->label);
}

/* The image and offset of @address in @p; false if that is not mapped. */
static bool find_user(struct feed *f, struct process *p, uint64_t address, bool is_caller,
		      struct evbuf_frame *ret)
{
	const struct mapping *m = p && p->maps ? maps_find(p->maps, address - is_caller) : NULL;
	uint64_t cookie;

	if (!m)
		return false;
	cookie = m->cookie ?: memory_cookie(f, p, m);
	perf_images_identify(f->images, cookie);
	*ret = (struct evbuf_frame){ cookie, address - m->start + m->offset };
	return true;
}

/* What a process executes; the name of a kernel thread. */
static uint64_t app_of(struct feed *f, struct process *p)
{
	if (!p)
		return cookie_thread(f->config->cookies, "unknown");
	if (!p->app && (!p->maps || !maps_count(p->maps)))
		p->kernel = true;
	if (p->kernel && !p->app)
		p->app = cookie_thread(f->config->cookies, p->name);
	if (!p->kernel)
		perf_images_identify(f->images, p->app);
	return p->app ?: cookie_thread(f->config->cookies, "unknown");
}

/* Finds the place of the sample itself; false if it cannot be, which is counted. */
static bool find_leaf(struct walk *w, const struct perf_file_record *r,
		      const struct perf_file_sample *s)
{
	struct feed *f = w->feed;

	switch (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		f->frames[0] = (struct evbuf_frame){ EVBUF_KERNEL, s->ip };
		return true;
	case PERF_RECORD_MISC_USER:
		if (find_user(f, w->process, s->ip, false, &f->frames[0]))
			return true;
		if (w->process)
			f->stats->sample_lost_no_mapping++;
		else
			f->stats->sample_lost_no_mm++;
		return false;
	default: /* a guest, or the hypervisor */
		f->stats->sample_lost_no_mapping++;
		return false;
	}
}

/* Adds the frame, unless it is the sample itself; false if the chain ends. */
static bool add_frame(struct walk *w, const struct callchain_frame *f)
{
	struct evbuf_frame *frame = &w->feed->frames[w->count];

	if (f->kind == CALLCHAIN_LEAF_KERNEL || f->kind == CALLCHAIN_LEAF_USER)
		return true;
	if (w->count == EVBUF_FRAMES_MAX)
		return false;
	if (f->kind == CALLCHAIN_KERNEL)
		*frame = (struct evbuf_frame){ EVBUF_KERNEL, f->address };
	else
		w->lost = !find_user(w->feed, w->process, f->address, f->kind == CALLCHAIN_CALLER,
				     frame);
	w->count += !w->lost;
	return !w->lost;
}

/* Why the chain has no more callers. */
static enum chain_end end_of(const struct walk *w, const struct perf_file_event *e,
			     const struct perf_file_sample *s)
{
	size_t depth = e->attr.sample_max_stack ?: DEPTH_DEFAULT;

	if (w->lost)
		return CHAIN_END_NO_MAPPING;
	if (w->process && w->process->kernel)
		return CHAIN_END_COMPLETE;
	if (s->is_kernel_only)
		return CHAIN_END_UNKNOWN;
	if (w->chain.addresses >= depth || w->count == EVBUF_FRAMES_MAX)
		return CHAIN_END_DEPTH;
	return w->chain.user_seen ? CHAIN_END_FP_END : CHAIN_END_NO_USER;
}

static void put_sample(struct walk *w, const struct perf_file_record *r,
		       const struct perf_file_sample *s)
{
	struct feed *f = w->feed;
	struct evbuf_trace trace = { .counter = (unsigned int)r->event, .weight = 1 };
	struct callchain_frame frame;

	if (!s->has_chain) {
		if (f->frames[0].cookie == EVBUF_KERNEL)
			evbuf_kernel_sample(f->config->out, s->ip, trace.counter, 1);
		else
			evbuf_sample(f->config->out, f->frames[0].cookie, f->frames[0].offset,
				     trace.counter, 1);
		return;
	}
	w->count = 1;
	w->chain = (struct callchain){ .words = s->chain,
				       .user_seen = f->frames[0].cookie != EVBUF_KERNEL };
	while (callchain_next(&w->chain, &frame) && add_frame(w, &frame))
		continue;
	trace.end = end_of(w, &f->events[r->event], s);
	f->stats->perfdata_stacks += s->is_kernel_only && trace.end == CHAIN_END_UNKNOWN;
	evbuf_chain(f->config->out, f->frames, w->count, &trace);
}

static int apply_sample(struct feed *f, const struct perf_file_record *r)
{
	struct walk w = { .feed = f };
	struct evbuf_context context = { 0 };
	struct perf_file_sample s;

	f->stats->sample_received++;
	if (r->is_orphan || perf_file_sample(f->file, r, &s) < 0) {
		f->stats->sample_lost_no_event++;
		return 0;
	}
	w.process = process_get(&f->processes, s.pid);
	context = (struct evbuf_context){
		.cpu = s.cpu, .tgid = s.pid, .tid = s.tid, .app = app_of(f, w.process)
	};
	if (!find_leaf(&w, r, &s))
		return 0;
	context.comm = (uint64_t)(uintptr_t)map_get(&f->names, s.tid);
	evbuf_context(f->config->out, &context);
	put_sample(&w, r, &s);
	return 0;
}

/* By type; the others were counted by the reader, or have nothing that is needed. */
static int (*const apply[])(struct feed *f, const struct perf_file_record *r) = {
	[PERF_RECORD_MMAP] = apply_map,
	[PERF_RECORD_LOST] = apply_lost,
	[PERF_RECORD_COMM] = apply_comm,
	[PERF_RECORD_THROTTLE] = apply_throttle,
	[PERF_RECORD_FORK] = apply_fork,
	[PERF_RECORD_SAMPLE] = apply_sample,
	[PERF_RECORD_MMAP2] = apply_map,
	[PERF_RECORD_LOST_SAMPLES] = apply_lost,
	[PERF_RECORD_KSYMBOL] = apply_kernel_code,
};

void perf_feed(const struct perf_feed_config *config)
{
	_cleanup_free_ struct feed *f = xcalloc(1, sizeof(*f));
	const struct perf_file_losses *losses = perf_file_losses(config->file);
	struct perf_file_record record;
	struct process *idle;
	size_t i, count;

	*f = (struct feed){ .config = config, .file = config->file, .stats = config->stats };
	f->events = perf_file_events(config->file, &count);
	f->images = perf_images_new(config->file, config->cookies, config->cache);
	f->processes = PROCESS_TABLE_INIT;
	idle = process_make(&f->processes, 0);
	idle->kernel = true;
	process_rename(&f->processes, idle, "swapper");
	for (i = 0; perf_file_record(config->file, i, &record); i++)
		if (record.type < ARRAY_SIZE(apply) && apply[record.type] &&
		    apply[record.type](f, &record) < 0)
			f->stats->bad_record++;
	f->stats->bad_record += losses->bad;
	f->stats->perfdata_unknown += losses->unknown;
	f->stats->perfdata_cut += losses->is_cut;
	process_table_clear(&f->processes);
	perf_images_free(f->images);
	map_done(&f->names);
}
