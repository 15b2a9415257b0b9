/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Driver "perf": the kernel's perf events, sampled into one ring per CPU. */
#include "driver/driver.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/perf/perf_samples.h"
#include "driver/perf/thread_names.h"
#include "identity/cgroups.h"
#include "identity/cookie.h"
#include "perf/cpulist.h"
#include "perf/kernel_events.h"
#include "driver/sampling.h"
#include "driver/perf/perf_ibs.h"
#include "driver/perf/perf_offcpu.h"
#include "perf/perf_pmus.h"
#include "stats/turn.h"
#include "file/procfs.h"

#include <errno.h>
#include <string.h>

/* Records younger than this may be preceded by ones that another CPU is still writing. */
enum { HORIZON_NS = 2000000 };

/* How long unwind tables are waited for in a sync, and after sampling. Most take a few ms. If the
 * caller's loop has turns, the next one looks whether they have come: in between, it is woken by a
 * ring that fills. */
enum { WAIT_MS = 10, WAIT_LAST_MS = 500 };

/* How long a sync takes at most while the caller's loop has turns, but for a last wait; and how
 * long after that if a ring is half full, without any wait. */
enum { TURN_NS = 20000000, URGENT_NS = 10000000 };

struct driver {
	struct sampling sampling;
	char *root;

	struct sideband sideband;
	struct cgroups *cgroups;    /* NULL: do not record cgroups */
	struct thread_names *names; /* NULL: do not record the names of threads */
	struct attribution attribution;
	struct evbuf *out;
	struct perf_ibs ibs;
	uint64_t stopped_ns;
	struct perf_offcpu offcpu; /* time off the CPU, if requested */

	uint64_t chance;	    /* random enough */
	bool held;		    /* a sample waits in its ring (unwinder_waits()) */
	bool is_cut;		    /* the last reading of the rings ended for the time */
	struct turn *turn;	    /* of the caller's loop: a sync must not take long; or NULL */
	uint64_t end_ns;	    /* of a reading of the rings; 0: when all is read */
	bool kernel_change_written; /* already done in this sync */
	uint64_t sideband_since_ns; /* /proc was read later than older records */
	uint64_t now_ns;	    /* when this sync began */
};

static int perf_probe(const struct driver_config *config, struct error *err)
{
	struct perf_plan plan = { .count = 0 };
	unsigned int cpu = 0;
	int r = cpulist_first(config->root, &cpu, err);

	if (r == 0)
		r = perf_plan_make(&plan, "perf", config, cpu, err);
	perf_plan_done(&plan);
	return r;
}

static void perf_shutdown(struct driver *d)
{
	if (!d)
		return;
	sampling_done(&d->sampling);
	sideband_done(&d->sideband);
	cgroups_free(d->cgroups);
	thread_names_free(d->names);
	perf_offcpu_done(&d->offcpu);
	evbuf_free(d->out);
	free(d->attribution.frames);
	moved_text_done(&d->attribution.moved);
	free(d->attribution.pcs);
	unwinder_free(d->attribution.unwinder);
	trampolines_free(d->attribution.trampolines);
	free(d->root);
	free(d);
}

DEFINE_CLEANUP(struct driver *, perf_shutdown);

/* Sets up the process table that the kernel's records keep up to date. */
static void setup_sideband(struct driver *d, const struct driver_config *config)
{
	sideband_init(&d->sideband, &(struct process_source){ d->root, config->cookies },
		      &d->sampling.stats);
	/* Samples have PIDs of the reader's namespace, and 0 for processes outside it. */
	if (config->scope != DRIVER_TASK && !procfs_first_pid_namespace())
		log_warn("running in its own PID namespace: processes outside it cannot be "
			 "identified");
	if (config->scope != DRIVER_SYSTEM)
		d->sideband.follow = (uint32_t)config->pid;
	d->sideband.others = config->others;
	d->sideband.other_count = config->other_count;
	d->sideband.follow_children = config->scope == DRIVER_TREE;
	d->sideband.await_exec = config->enable_on_exec;
}

static void setup_attribution(struct driver *d, const struct driver_config *config)
{
	const struct perf_plan *plan = &d->sampling.plan;

	d->attribution = (struct attribution){ .sideband = &d->sideband,
					       .out = d->out,
					       .stats = &d->sampling.stats,
					       .cgroups = d->cgroups,
					       .names = d->names };
	if (plan->depth) {
		d->attribution.depth = plan->depth;
		d->attribution.frames = xcalloc(plan->depth, sizeof(*d->attribution.frames));
	}
	if (plan->by_table) {
		d->attribution.pcs = xcalloc(plan->depth, sizeof(*d->attribution.pcs));
		d->attribution.unwinder =
			unwinder_new(config->cookies, d->root, config->unwind_bytes);
	} else if (plan->depth) {
		d->attribution.trampolines = trampolines_new(d->root, config->cookies);
	}
}

static int perf_setup(const struct driver_config *config, struct driver **ret, struct error *err)
{
	_cleanup_(perf_shutdownp) struct driver *d = xcalloc(1, sizeof(*d));
	int r;

	d->root = xstrdup(config->root ? config->root : "");
	d->sampling = (struct sampling)SAMPLING_INIT;
	r = sampling_plan(&d->sampling, "perf", config, err);
	if (r < 0)
		return r;
	d->sampling.plan.root = d->root;
	d->turn = config->turn;
	r = sampling_open(&d->sampling, err);
	if (r < 0)
		return r;
	d->ibs.cpu = ibs_cpu_read(d->root);
	memcpy(d->ibs.terms, config->derived.ibs, sizeof(d->ibs.terms));
	d->out = evbuf_new(config->buffer_words ?: DRIVER_BUFFER_WORDS, config->sink,
			   config->sink_data);
	setup_sideband(d, config);
	if (config->cgroups)
		d->cgroups = cgroups_new(d->root, CGROUPS_PERF, config->cookies);
	if (config->comms)
		d->names = thread_names_new(d->root);
	setup_attribution(d, config);
	if (d->sampling.plan.switches) {
		perf_offcpu_init(&d->offcpu, &d->attribution, (unsigned int)d->sampling.plan.count,
				 d->root);
		d->offcpu.offcpu.blocked_only = config->derived.offcpu.blocked;
		d->offcpu.min_us = config->derived.offcpu.min_us;
	}
	*ret = STEAL(d);
	return 0;
}

/* The index of the event that wrote a record. */
static unsigned int counter_of(const struct driver *d, struct perf_cpu *c, uint64_t id)
{
	const struct perf_source *source;

	if (_likely_(d->sampling.plan.count == 1 && !d->sampling.plan.has_ibs[0] &&
		     !d->sampling.plan.has_ibs[1] && !d->sampling.plan.switches))
		return 0;
	source = perf_cpu_source(c, id);
	return source ? source->counter : 0;
}

static uint64_t unplaced(const struct driver *d)
{
	return d->sampling.stats.sample_lost_no_mapping + d->sampling.stats.sample_lost_no_mm;
}

/* Returns whether the sample need not wait. */
static bool put_sample(struct driver *d, unsigned int cpu, unsigned int counter,
		       const struct perf_record *r)
{
	struct driver_cpu_stats *totals = perf_cpuset_totals(&d->sampling.cpus, cpu);
	uint64_t invalid = unplaced(d), aborted = evbuf_cut_chains(d->out);

	if (!perf_samples_put(&d->attribution, cpu, counter, r))
		return false;
	d->sampling.stats.sample_stretched += d->attribution.weight - 1;
	totals->sample_received += d->attribution.weight;
	totals->sample_invalid_eip += unplaced(d) - invalid;
	totals->backtrace_aborted += evbuf_cut_chains(d->out) - aborted;
	return true;
}

/* The number of samples that one counts as. A fraction is rounded up or down at random, so that
 * nothing periodic can favour some places. */
static uint64_t weigh(struct driver *d, uint32_t stretch)
{
	uint64_t weight;

	if (_likely_(stretch == STRETCH_ONE))
		return 1;
	d->chance = hash_u64(d->chance + 1);
	weight = (stretch + d->chance % STRETCH_ONE) / STRETCH_ONE;
	return weight;
}

static void on_sample(size_t cpu, const struct perf_record *r, void *data)
{
	struct driver *d = data;
	struct perf_cpu *c = &d->sampling.cpus.cpus[cpu];
	unsigned int counter;

	if (_unlikely_(r->type != PERF_RECORD_SAMPLE)) {
		perf_cpu_notice(c, r, &d->sampling.stats);
		return;
	}
	counter = counter_of(d, c, r->id);
	if (_likely_(counter < PERF_PLAN_IBS)) {
		d->attribution.weight = weigh(d, perf_cpu_stretch_at(c, r->time_ns));
		d->held = !put_sample(d, c->cpu, counter, r);
	} else if (counter == PERF_PLAN_LEAVING) {
		d->held = !perf_offcpu_leave(&d->offcpu, r, d->now_ns);
	} else
		perf_ibs_put(&d->ibs, &d->attribution, c->cpu, counter - PERF_PLAN_IBS, r);
	c->taken += !d->held;
}

/* Once per sync is enough: the list of modules is read afterwards. */
static void tell_kernel_change(struct driver *d)
{
	if (!d->sideband.kernel_changed || d->kernel_change_written)
		return;
	evbuf_code(d->out, EVBUF_MODULE_LOADED);
	d->sideband.kernel_changed = false;
	d->kernel_change_written = true;
}

/* Applies a record of code loaded into or removed from the kernel. */
static void apply_kernel(struct driver *d, const struct perf_record *r)
{
	struct kernel_code code;

	switch (kernel_events_read(r, d->sideband.from.cookies, &code)) {
	case KERNEL_EVENT_CODE:
		evbuf_kernel_code(d->out, code.start, code.length, code.cookie);
		break;
	case KERNEL_EVENT_LOOK:
		d->sideband.kernel_changed = true;
		break;
	case KERNEL_EVENT_NONE:
		break;
	}
	tell_kernel_change(d);
}

static void on_change(size_t cpu, const struct perf_record *r, void *data)
{
	struct driver *d = data;

	if (r->time_ns < d->sideband_since_ns)
		return;
	if (d->sampling.plan.switches)
		perf_offcpu_change(&d->offcpu, d->sampling.cpus.cpus[cpu].cpu, r);
	if (r->type == PERF_RECORD_CGROUP && d->cgroups)
		cgroups_add(d->cgroups, r->new_cgroup.id, r->new_cgroup.path);
	if (d->names)
		thread_names_record(d->names, r);
	sideband_apply(&d->sideband, r, d->now_ns);
	apply_kernel(d, r);
}

/* Handles all records up to @until_ns, or, if they @may_wait, those before the first that does. */
static void drain_until(struct driver *d, uint64_t until_ns, bool may_wait)
{
	const struct ring_merge_handler handler = { on_sample, on_change, d,
						    &d->held,  d->end_ns, &d->is_cut };

	if (d->attribution.unwinder)
		unwinder_may_wait(d->attribution.unwinder, may_wait);
	if (d->attribution.trampolines)
		trampolines_may_wait(d->attribution.trampolines, may_wait);
	d->sideband.may_wait = may_wait;
	d->sideband.looks_again = may_wait && d->turn;
	d->sideband.waits = false;
	d->held = d->is_cut = false;
	sampling_read(&d->sampling, &handler, until_ns);
}

/* Handles all records up to @until_ns. */
static void drain(struct driver *d, uint64_t until_ns)
{
	drain_until(d, until_ns, false);
}

/* Waits for what chains depend on; returns whether some of it has come. */
static bool await_chains(const struct driver *d, int ms)
{
	if (d->attribution.unwinder)
		return unwinder_await(d->attribution.unwinder, ms);
	return d->attribution.trampolines && trampolines_await(d->attribution.trampolines, ms);
}

/* The same, but chains may wait: here for at most @ms, and the samples from there on in the rings.
 * That is their room: nothing is copied, and the order stays. */
static void drain_patiently(struct driver *d, uint64_t until_ns, int ms)
{
	uint64_t end_ns = clock_now_ns() + (uint64_t)ms * 1000000, now_ns;

	do {
		drain_until(d, until_ns, true);
		now_ns = clock_now_ns();
	} while (d->held && !d->is_cut && now_ns < end_ns &&
		 await_chains(d, (int)((end_ns - now_ns) / 1000000) + 1));
}

static void perf_stop(struct driver *d)
{
	uint64_t now_ns = clock_now_ns();

	if (!sampling_stop(&d->sampling, now_ns))
		return;
	d->stopped_ns = now_ns;
	perf_cpuset_read_lost(&d->sampling.cpus);
	if (perf_cpuset_waited_ns(&d->sampling.cpus))
		log_warn("more events than counters: they took turns, and each sampled only part "
			 "of the time%s",
			 perf_pmus_watchdog(d->root) ? "; the NMI watchdog uses a counter (sysctl "
						       "kernel.nmi_watchdog=0 frees it)"
						     : "");
}

/* The order matters: changes are recorded before the state is read, and the state is read before
 * the first sample. */
static int perf_start(struct driver *d, struct error *err)
{
	int r;

	if (d->sampling.running)
		return 0;
	d->now_ns = clock_now_ns();
	drain(d, UINT64_MAX);
	perf_offcpu_done(&d->offcpu);
	process_table_clear(&d->sideband.processes);
	if (d->names)
		thread_names_forget(d->names);
	r = perf_cpuset_enable_sideband(&d->sampling.cpus, true);
	if (r == 0) {
		d->sideband_since_ns = d->now_ns = clock_now_ns();
		sideband_read_all(&d->sideband, d->now_ns);
		turn_start(d->turn); /* no sample has waited */
		if (!d->sampling.plan.attrs.enable_on_exec)
			r = perf_cpuset_enable_samples(&d->sampling.cpus, true);
	}
	d->sampling.running = true;
	if (r < 0) {
		perf_stop(d);
		return perf_plan_explain(&d->sampling.plan, r, "cannot enable the events", err);
	}
	return 0;
}

/* Called after a drain, because the rings of CPUs that went offline are dropped. */
static void look_at_cpus(struct driver *d)
{
	if (!sampling_look_at_cpus(&d->sampling, d->now_ns) || !d->sampling.running)
		return;
	/* Changes on the CPU before its events were opened were not recorded. */
	sideband_doubt(&d->sideband, clock_now_ns());
}

/* How long a sync waits for what its samples depend on. */
static int patience_ms(const struct driver *d, bool all)
{
	if (all && !d->sampling.running)
		return WAIT_LAST_MS;
	return d->turn ? 0 : WAIT_MS;
}

static int perf_sync(struct driver *d, bool all, struct error *err)
{
	uint64_t until_ns;
	int r;

	perf_cpuset_clear_wakeups(&d->sampling.cpus);
	d->now_ns = d->attribution.now_ns = clock_now_ns();
	attribution_check_moved(&d->attribution);
	d->kernel_change_written = false;
	sideband_tidy(&d->sideband, d->now_ns);
	if (d->attribution.unwinder)
		unwinder_round(d->attribution.unwinder);
	if (all && !d->sampling.running)
		sideband_finish(&d->sideband);
	tell_kernel_change(d);
	d->end_ns = d->turn && !all ? d->now_ns + TURN_NS : 0;
	until_ns = !all ? d->now_ns - HORIZON_NS : d->sampling.running ? d->now_ns : UINT64_MAX;
	drain_patiently(d, until_ns, patience_ms(d, all));
	if (all && d->held)
		drain(d, until_ns);
	/* A sample processed too early is better than a lost one. */
	if (perf_cpuset_half_full(&d->sampling.cpus)) {
		d->end_ns = d->end_ns ? clock_now_ns() + URGENT_NS : 0;
		drain(d, clock_now_ns());
	}
	d->end_ns = 0;
	if (all && !d->sampling.running)
		perf_offcpu_end(&d->offcpu, d->stopped_ns);
	if (all)
		perf_cpuset_read_lost(&d->sampling.cpus);
	look_at_cpus(d);
	r = evbuf_flush(d->out);
	evbuf_restart(d->out);
	if (r < 0)
		return error_errno(err, r, "cannot record the samples");
	return d->sampling.plan.scope != DRIVER_SYSTEM &&
	       !process_any_followed(&d->sideband.processes);
}

static bool perf_has_more(const struct driver *d)
{
	return d->turn && (d->is_cut || d->held);
}

static uint64_t perf_taken_until_ns(const struct driver *d)
{
	return d->sampling.running ? d->now_ns - HORIZON_NS : d->now_ns;
}

static int perf_fd(const struct driver *d)
{
	return d->sampling.cpus.epoll;
}

static const struct event *perf_events(const struct driver *d, size_t *ret_count)
{
	*ret_count = d->sampling.plan.count;
	return d->sampling.plan.events;
}

static const char *perf_why(const struct driver *d)
{
	return d->sampling.plan.why;
}

static void perf_stats(const struct driver *d, struct driver_stats *ret)
{
	*ret = d->sampling.stats;
	ret->sample_lost_overflow = perf_cpuset_lost(&d->sampling.cpus);
	perf_offcpu_stats(&d->offcpu, ret);
	ret->waited_ns = perf_cpuset_waited_ns(&d->sampling.cpus);
#define X(name, ...) ret->name = unwinder_stats(d->attribution.unwinder)->counters.name;
	if (d->attribution.unwinder) {
		COUNTERS_OF_TABLES(X)
	}
#undef X
	ret->unwind_moved_late = cookie_copies_late(d->sideband.from.cookies);
}

static void perf_cpu_stats(const struct driver *d, unsigned int cpu, struct driver_cpu_stats *ret)
{
	perf_cpuset_cpu_stats(&d->sampling.cpus, cpu, ret);
}

static size_t perf_costs(struct driver *d, struct driver_cost *ret, size_t room)
{
	return perf_cpuset_costs(&d->sampling.cpus, clock_now_ns(), ret, room);
}

static int perf_stretch(struct driver *d, unsigned int cpu, uint32_t stretch)
{
	return sampling_stretch(&d->sampling, cpu, stretch);
}

const struct driver_ops driver_perf = {
	.name = "perf",
	.probe = perf_probe,
	.setup = perf_setup,
	.start = perf_start,
	.sync = perf_sync,
	.has_more = perf_has_more,
	.taken_until_ns = perf_taken_until_ns,
	.stop = perf_stop,
	.shutdown = perf_shutdown,
	.fd = perf_fd,
	.events = perf_events,
	.why = perf_why,
	.stats = perf_stats,
	.cpu_stats = perf_cpu_stats,
	.costs = perf_costs,
	.stretch = perf_stretch,
};
