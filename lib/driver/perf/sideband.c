/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/sideband.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "file/path.h"
#include "file/procfs.h"
#include "identity/cookie.h"
#include "process/maps.h"
#include "perf/kernel_events.h"

#include <errno.h>

/* How long an exited process is kept for late samples; how long one that could not be read, or had
 * no mapping, is not read again. */
enum { LEAVE_NS = 1000000000, READ_AGAIN_NS = 100000000 };

/* The kernel does not report unmapping: a process is read again once it has more mappings than
 * this, and twice as many as when last read. */
enum { MAPS_STALE = 2048 };
enum { PRUNE_EVERY_NS = 2000000000 };

/* All of /proc, or a process with very many mappings, is read for at most one part in so many of
 * the time. */
enum { READ_SHARE = 20 };

/* Between two syncs, processes that are being read are waited for about so long, each for a part of
 * that; after sampling, nothing else waits. Before it, all are read, but those that take longer are
 * read with their first samples. */
enum {
	READ_TURN_NS = 16000000,
	READ_PATIENCE_NS = 8000000,
	READ_TURN_LAST_NS = 2000000000,
	READ_ALL_NS = 400000000,
	READ_EACH_NS = 50000000,
};

/* A sample waits in its ring for at most so long until its process was read, because the samples
 * after it do, too. */
enum { HOLD_NS = 1000000000 };

void sideband_init(struct sideband *s, const struct process_source *from,
		   struct driver_stats *stats)
{
	*s = (struct sideband){ .processes = PROCESS_TABLE_INIT,
				.from = *from,
				.reader = process_reader_new(from->root, process_reading_new),
				.stats = stats,
				.patience_ns = READ_PATIENCE_NS,
				.turn_ns = READ_TURN_NS,
				.usual_turn_ns = READ_TURN_NS,
				.cookie_limit = SIDEBAND_COOKIES_MIN };
}

void sideband_done(struct sideband *s)
{
	process_table_clear(&s->processes);
	process_reader_free(STEAL(s->reader));
	process_asked_done(&s->asked);
}

static bool wanted(const struct sideband *s, const struct process *p)
{
	return p && (!s->follow || p->followed);
}

/* Adds the idle task of every CPU, which /proc does not list. */
static void make_idle(struct sideband *s)
{
	struct process *p = process_make(&s->processes, 0);

	p->kernel = true;
	process_rename(&s->processes, p, "swapper");
}

static void make_followed(struct sideband *s)
{
	process_asked_note(&s->asked, s->from.root, (pid_t)s->follow, s->others, s->other_count);
	process_asked_follow(&s->asked, &s->processes);
	/* If this is not the first time, its exec may be among the lost records. */
	process_make(&s->processes, s->follow)->waiting = s->await_exec;
	s->await_exec = false;
	if (s->follow_children)
		process_follow_children(&s->processes, s->from.root);
	s->follow_children = true;
}

static bool is_gone(uint32_t tgid, void *data)
{
	const struct sideband *s = data;

	if (!process_is_gone(s->from.root, tgid))
		return false;
	process_reader_forget(s->reader, tgid, UINT64_MAX);
	return true;
}

static bool has_turn(const struct sideband *s)
{
	return s->spent_ns < s->turn_ns;
}

/* How long a reading may be waited for now. */
static uint64_t patience_ns(const struct sideband *s)
{
	uint64_t left_ns = has_turn(s) ? s->turn_ns - s->spent_ns : 0, each_ns = s->patience_ns;

	if (s->reads_all)
		each_ns = MAX(each_ns, (uint64_t)READ_EACH_NS);
	return s->is_last_turn ? left_ns : MIN(left_ns, each_ns);
}

static bool is_asked(const struct sideband *s, const struct process *p)
{
	uint64_t asked_ns;

	return process_reader_is_asked(s->reader, p->tgid, &asked_ns);
}

static struct unrecorded_from unrecorded_from(struct sideband *s)
{
	return (struct unrecorded_from){ &s->processes, s->from.cookies, s->reader, s->stats };
}

/* Begins to read @p, or goes on with it, and notes that it was tried. -EAGAIN if it takes longer
 * than may be waited for. */
static int read_one(struct sideband *s, struct process *p, uint32_t tid, uint64_t now_ns)
{
	const struct process_target to = { &s->processes, s->from.cookies };
	uint64_t begin_ns = clock_now_ns(), until_ns = begin_ns + patience_ns(s), asked_ns = now_ns;
	const struct unrecorded_from from = unrecorded_from(s);
	bool is_cut = false;
	int r = 0;

	unrecorded_drop(&s->unrecorded, &from, p->tgid);
	if (!process_reader_is_asked(s->reader, p->tgid, &asked_ns))
		r = process_reader_ask(s->reader, p->tgid, tid, now_ns);
	if (r == 0) {
		if (s->is_last_turn || (now_ns < asked_ns + HOLD_NS && !s->looks_again))
			(void)process_reader_await(s->reader, p->tgid,
						   (int)((until_ns - begin_ns + 999999) / 1000000));
		r = process_reader_take(s->reader, p, &to, until_ns, &is_cut);
	}
	s->spent_ns += clock_now_ns() - begin_ns;
	if (r == -EAGAIN)
		return r;
	p->tried_ns = now_ns;
	if (r == 0)
		p->read_ns = p->sure_ns = asked_ns;
	s->stats->sideband_unread += is_cut || r == -EBUSY || r == -EOVERFLOW;
	return r;
}

static void begin_turn(struct sideband *s)
{
	s->spent_ns = 0;
	s->turn_ns = s->usual_turn_ns;
	s->is_last_turn = s->reads_all = false;
}

void sideband_finish(struct sideband *s)
{
	s->spent_ns = 0;
	s->turn_ns = READ_TURN_LAST_NS;
	s->is_last_turn = true;
}

/* Of those that are followed, all must be read: the end of the last one is to be noticed. */
static void begin_all(struct sideband *s)
{
	if (s->follow) {
		sideband_finish(s);
		return;
	}
	begin_turn(s);
	s->turn_ns = MAX(s->usual_turn_ns, (uint64_t)READ_ALL_NS);
	s->reads_all = true;
}

struct read_all {
	struct sideband *s;
	uint64_t now_ns;
};

static void read_each(uint32_t pid, void *data)
{
	const struct read_all *all = data;
	struct sideband *s = all->s;
	struct process *p = process_get(&s->processes, pid);
	int r;

	if (s->follow ? !wanted(s, p) : !has_turn(s))
		return;
	p = process_make(&s->processes, pid);
	p->leaving = false;
	process_reader_forget(s->reader, pid, UINT64_MAX);
	r = read_one(s, p, pid, all->now_ns);
	if (r < 0 && r != -EAGAIN)
		process_leave(&s->processes, p, all->now_ns);
}

void sideband_read_all(struct sideband *s, uint64_t now_ns)
{
	struct read_all all = { s, now_ns };

	begin_all(s);
	make_idle(s);
	if (s->follow)
		make_followed(s);
	/* process_expire() finds the processes that have exited. */
	map_for_each (&s->processes.by_tgid, slot)
		if (((struct process *)slot->value)->tgid)
			process_leave(&s->processes, slot->value, now_ns);
	(void)procfs_pids(s->from.root, read_each, &all);
	s->read_all_ns = now_ns;
	begin_turn(s);
}

/* Returns whether @p, as read from /proc, already includes the record. */
static bool is_old_news(const struct process *p, const struct perf_record *r)
{
	return p && r->time_ns < p->read_ns;
}

static void apply_map(struct sideband *s, const struct perf_record *r)
{
	struct process *p = process_get(&s->processes, r->pid);
	struct mapping mapping;

	if (!p || is_old_news(p, r))
		return;
	mapping_from(&(struct mapping_source){ .start = r->map.start,
					       .end = r->map.end,
					       .offset = r->map.offset,
					       .file = r->map.file,
					       .path = r->map.path },
		     s->from.cookies, &mapping);
	/* It may be where text was moved to before. */
	cookie_doubt(s->from.cookies,
		     mapping.cookie
			     ?: cookie_find_anon(s->from.cookies, p->tgid,
						 mapping.start - mapping.offset, mapping.label));
	/* A single mapping is not enough for an unknown process. */
	if (p->maps)
		process_map(&s->processes, p, &mapping);
	process_reader_map(s->reader, r->pid, &mapping, r->time_ns);
}

static void execute(struct sideband *s, const struct perf_record *r)
{
	struct process *p = process_make(&s->processes, r->pid);

	process_reader_forget(s->reader, r->pid, r->time_ns);
	process_exec(&s->processes, p, r->comm.name);
	p->sure_ns = r->time_ns;
}

static void apply_comm(struct sideband *s, const struct perf_record *r)
{
	struct process *p = process_get(&s->processes, r->pid);

	if (is_old_news(p, r) || (s->follow && !wanted(s, p)))
		return;
	if (r->comm.exec)
		execute(s, r);
	else if (p && r->pid == r->tid) /* otherwise it is a thread's name */
		process_rename(&s->processes, p, r->comm.name);
}

static void apply_fork(struct sideband *s, const struct perf_record *r)
{
	const struct process *parent = process_get(&s->processes, r->task.parent_pid);
	const struct process *child = process_get(&s->processes, r->pid);

	if (r->pid == r->task.parent_pid || is_old_news(child, r))
		return; /* a thread, or already known */
	process_reader_forget(s->reader, r->pid, r->time_ns);
	/* Drops an older process of the same number. */
	if (wanted(s, parent) || child)
		(void)process_fork(&s->processes, r->task.parent_pid, r->pid);
}

static void apply_exit(struct sideband *s, const struct perf_record *r)
{
	struct process *p = process_get(&s->processes, r->pid);

	if (p && r->pid == r->tid)
		process_leave(&s->processes, p, r->time_ns);
}

/* Has each process read again at its next sample. Those that have gone are noticed here. */
static void doubt_all(struct sideband *s, uint64_t now_ns)
{
	map_for_each (&s->processes.by_tgid, slot) {
		struct process *p = slot->value;

		if (p->tgid && process_is_gone(s->from.root, p->tgid))
			process_leave(&s->processes, p, now_ns);
	}
	s->doubt_ns = s->read_all_ns = now_ns;
	s->processes.changes++;
}

/* Reads all processes again, at once or later; next time not before twenty times as long has
 * passed. */
static void read_again(struct sideband *s, uint64_t now_ns)
{
	uint64_t begin_ns = clock_now_ns(), cost_ns;

	s->stats->resync++;
	if (s->follow)
		sideband_read_all(s, now_ns);
	else
		doubt_all(s, now_ns);
	s->lost = false;
	cost_ns = clock_now_ns() - begin_ns;
	s->read_next_ns = now_ns + MAX(READ_SHARE * cost_ns, (uint64_t)READ_AGAIN_NS);
}

void sideband_doubt(struct sideband *s, uint64_t now_ns)
{
	s->lost = true;
	if (now_ns >= s->read_next_ns)
		read_again(s, now_ns);
}

static void apply_lost(struct sideband *s, const struct perf_record *r, uint64_t now_ns)
{
	s->stats->sideband_lost += r->lost;
	/* Records lost before /proc was last read are in the table. */
	if (r->time_ns < s->read_all_ns)
		return;
	if (!s->stats->resync)
		log_warn("%llu mapping records were lost: reading all processes again, as "
			 "whenever that happens (resync)",
			 (unsigned long long)r->lost);
	sideband_doubt(s, now_ns);
}

void sideband_apply(struct sideband *s, const struct perf_record *r, uint64_t now_ns)
{
	switch (r->type) {
	case PERF_RECORD_MMAP2:
		apply_map(s, r);
		break;
	case PERF_RECORD_COMM:
		apply_comm(s, r);
		break;
	case PERF_RECORD_FORK:
		apply_fork(s, r);
		break;
	case PERF_RECORD_EXIT:
		apply_exit(s, r);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		apply_lost(s, r, now_ns);
		break;
	default: /* TEXT_POKE, and records of future kernels */
		break;
	}
}

static bool tried_lately(const struct process *p, uint64_t now_ns)
{
	uint64_t pause_ns = MAX(READ_SHARE * p->cost_ns, (uint64_t)READ_AGAIN_NS);

	return p->tried_ns && now_ns < p->tried_ns + pause_ns;
}

/* Whether records of @p may have been lost since it was known. */
static bool is_doubtful(const struct sideband *s, const struct process *p, uint64_t now_ns)
{
	return p->tgid && p->sure_ns < s->doubt_ns && p->tried_ns < s->doubt_ns &&
	       (!p->tried_ns || now_ns >= p->tried_ns + READ_SHARE * p->cost_ns);
}

/* Notes whether the sample has to wait until processes may be read again. */
static bool put_off(struct sideband *s)
{
	s->waits = s->waits || (s->may_wait && !has_turn(s));
	return s->waits;
}

/* Notes whether the sample has to wait until @p was read, which is under way. */
static bool hold(struct sideband *s, const struct process *p, uint64_t now_ns)
{
	uint64_t asked_ns = 0;

	(void)process_reader_is_asked(s->reader, p->tgid, &asked_ns);
	s->waits = s->waits || (s->may_wait && now_ns < asked_ns + HOLD_NS);
	s->stats->sideband_unread += !s->waits;
	return s->waits;
}

/* Whether what is known of @p is good enough. */
static bool is_known(const struct sideband *s, const struct process *p, uint64_t now_ns)
{
	bool may_read = s->may_wait || has_turn(s);

	return p && (p->kernel || p->maps) && !(may_read && is_doubtful(s, p, now_ns));
}

struct process *sideband_process(struct sideband *s, uint32_t tgid, uint32_t tid, uint64_t now_ns)
{
	struct process *p = process_get(&s->processes, tgid);
	int r;

	if (tgid == UINT32_MAX)
		return NULL; /* the kernel's last steps for an exited process */
	if (is_known(s, p, now_ns)) {
		p->sampled = true;
		s->stats->sideband_unread += wanted(s, p) && is_doubtful(s, p, now_ns);
		return wanted(s, p) ? p : NULL;
	}
	if (s->follow && !wanted(s, p))
		return NULL;
	p = process_make(&s->processes, tgid);
	if (!is_asked(s, p) && !is_doubtful(s, p, now_ns) && tried_lately(p, now_ns))
		return NULL;
	if (put_off(s))
		return NULL;
	r = read_one(s, p, tid, now_ns);
	if (r == -EAGAIN && hold(s, p, now_ns))
		return NULL;
	if (r < 0 && r != -EAGAIN && r != -EBUSY)
		process_leave(&s->processes, p, now_ns);
	return p->kernel || p->maps ? p : NULL;
}

bool sideband_read_again(struct sideband *s, struct process *p, uint32_t tid, uint64_t now_ns)
{
	int r;

	if (p->kernel || (!is_asked(s, p) && tried_lately(p, now_ns)) || put_off(s))
		return false;
	r = read_one(s, p, tid, now_ns);
	if (r == -EAGAIN)
		(void)hold(s, p, now_ns);
	return r == 0;
}

/* Reads processes again that have collected possibly stale mappings. */
static void prune_maps(struct sideband *s, uint64_t now_ns)
{
	if (now_ns < s->pruned_ns + PRUNE_EVERY_NS)
		return;
	s->pruned_ns = now_ns;
	map_for_each (&s->processes.by_tgid, slot) {
		struct process *p = slot->value;
		size_t count = p->maps ? maps_count(p->maps) : 0;

		if (count > MAPS_STALE && count > 2 * p->read_count && has_turn(s))
			(void)sideband_read_again(s, p, p->tgid, now_ns);
	}
}

static void take_ready(uint32_t tgid, void *data)
{
	const struct read_all *all = data;
	struct process *p = process_get(&all->s->processes, tgid);

	if (!p)
		process_reader_forget(all->s->reader, tgid, UINT64_MAX);
	else if (has_turn(all->s) && all->s->unrecorded.tgid != tgid)
		(void)read_one(all->s, p, tgid, all->now_ns);
}

void sideband_tidy(struct sideband *s, uint64_t now_ns)
{
	/* The exit of followed processes must be noticed at once. */
	uint64_t wait = s->follow ? LEAVE_NS / 100 : LEAVE_NS;
	const struct unrecorded_from from = unrecorded_from(s);

	s->processes.changes += !has_turn(s); /* what was not read then is looked up again */
	begin_turn(s);
	s->waits = false;
	unrecorded_tidy(&s->unrecorded, &from, now_ns);
	process_reader_each_ready(s->reader, take_ready, &(struct read_all){ s, now_ns });
	if (now_ns > wait)
		process_expire(&s->processes, now_ns - wait, is_gone, s);
	s->kernel_changed |= kernel_events_modules_changed(s->from.root, &s->module_count);
	if (s->lost && now_ns >= s->read_next_ns)
		read_again(s, now_ns);
	prune_maps(s, now_ns);
	sideband_sweep(s);
}
