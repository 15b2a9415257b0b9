/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Driver "perf": the kernel's perf events, sampled into a ring a CPU. */
#include "driver/driver.h"

#include "base/log.h"
#include "base/mem.h"
#include "driver/attribution.h"
#include "driver/cookie.h"
#include "driver/cpulist.h"
#include "driver/merge.h"
#include "driver/perf_cpu.h"
#include "driver/perf_targets.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

enum { EVENT_BUFFER_WORDS = 128 << 10 };

/* Records younger than this may still have older ones before them that another CPU is writing. */
enum { HORIZON_NS = 2000000 };
enum { HOTPLUG_EVERY_NS = 1000000000 };

struct driver {
	struct perf_plan plan;
	struct perf_targets targets;
	struct perf_cpu *cpus; /* by number */
	size_t cpu_count;
	uint64_t lost_on_closed; /* samples, on CPUs that went */
	int epoll;
	char *root;

	struct sideband sideband;
	struct attribution attribution;
	struct evbuf *out;
	struct driver_stats stats; /* but for the samples lost, which the CPUs know */

	bool running;
	bool told_kernel_change;    /* in this sync */
	uint64_t sideband_since_ns; /* older records are in what was read from /proc */
	uint64_t hotplug_looked_ns;
	uint64_t now_ns; /* when this sync began */
};

static uint64_t clock_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int first_cpu(const char *root, unsigned int *ret, struct error *err)
{
	_cleanup_free_ unsigned int *cpus = NULL;
	int n = cpulist_online(root, &cpus);

	if (n < 0)
		return error_errno(err, n, "cannot read which CPUs are online");
	*ret = cpus[0];
	return 0;
}

static int perf_probe(const struct driver_config *config, struct error *err)
{
	struct perf_plan plan = { .count = 0 };
	unsigned int cpu = 0;
	int r = first_cpu(config->root, &cpu, err);

	if (r == 0)
		r = perf_plan_make(&plan, config, cpu, err);
	perf_plan_done(&plan);
	return r;
}

/* Readable when a ring is half full. */
static void watch(struct driver *d, const struct perf_cpu *c)
{
	const int fds[] = { c->sources[0].fd, c->sideband_fds[0] };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.fd = fds[i] };

		/* Without it samples wait for the next sync in time. */
		(void)epoll_ctl(d->epoll, EPOLL_CTL_ADD, fds[i], &event);
	}
}

/* Opens the events of one more CPU, keeping them sorted. */
static int add_cpu(struct driver *d, unsigned int cpu, struct error *err)
{
	struct perf_cpu c = { .cpu = cpu };
	size_t at = 0;
	int r = perf_cpu_open(&c, cpu, &d->plan, &d->targets, err);

	if (r < 0)
		return r;
	while (at < d->cpu_count && d->cpus[at].cpu < cpu)
		at++;
	d->cpus = xreallocarray(d->cpus, d->cpu_count + 1, sizeof(*d->cpus));
	memmove(d->cpus + at + 1, d->cpus + at, (d->cpu_count - at) * sizeof(*d->cpus));
	d->cpus[at] = c;
	d->cpu_count++;
	watch(d, &d->cpus[at]);
	return 0;
}

static void remove_cpu(struct driver *d, size_t at)
{
	d->lost_on_closed += perf_cpu_lost(&d->cpus[at]);
	perf_cpu_close(&d->cpus[at]);
	d->cpu_count--;
	memmove(d->cpus + at, d->cpus + at + 1, (d->cpu_count - at) * sizeof(*d->cpus));
}

static void perf_shutdown(struct driver *d)
{
	if (!d)
		return;
	while (d->cpu_count)
		remove_cpu(d, d->cpu_count - 1);
	free(d->cpus);
	if (d->epoll >= 0)
		(void)close(d->epoll);
	perf_plan_done(&d->plan);
	perf_targets_done(&d->targets);
	sideband_done(&d->sideband);
	evbuf_free(d->out);
	free(d->root);
	free(d);
}

DEFINE_CLEANUP(struct driver *, perf_shutdown);

/* Opens the events of all CPUs that are there. */
static int open_cpus(struct driver *d, struct error *err)
{
	_cleanup_free_ unsigned int *cpus = NULL;
	int i, r, n = cpulist_online(d->root, &cpus);

	if (n < 0)
		return error_errno(err, n, "cannot read which CPUs are online");
	for (i = 0; i < n; i++) {
		r = add_cpu(d, cpus[i], err);
		/* One may go between the reading and the opening. */
		if (r < 0 && r != -ENODEV)
			return r;
	}
	return d->cpu_count ? 0 : -ENODEV;
}

static int perf_setup(const struct driver_config *config, struct driver **ret, struct error *err)
{
	_cleanup_(perf_shutdownp) struct driver *d = xcalloc(1, sizeof(*d));
	unsigned int cpu = 0;
	int r;

	d->root = xstrdup(config->root ? config->root : "");
	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (d->epoll < 0)
		return error_errno(err, -errno, "epoll_create1");
	r = first_cpu(d->root, &cpu, err);
	if (r < 0)
		return r;
	r = perf_plan_make(&d->plan, config, cpu, err);
	if (r < 0)
		return r;
	d->plan.root = d->root;
	r = perf_targets_find(&d->targets, config, err);
	if (r < 0)
		return r;
	r = open_cpus(d, err);
	if (r < 0)
		return r;
	d->out = evbuf_new(config->buffer_words ? config->buffer_words : EVENT_BUFFER_WORDS,
			   config->sink, config->sink_data);
	sideband_init(&d->sideband, &(struct process_source){ d->root, config->cookies },
		      &d->stats);
	if (config->scope != DRIVER_SYSTEM)
		d->sideband.follow = (uint32_t)config->pid;
	d->attribution =
		(struct attribution){ .sideband = &d->sideband, .out = d->out, .stats = &d->stats };
	*ret = STEAL(d);
	return 0;
}

/* The place among the events of the one that wrote a record. */
static unsigned int counter_of(const struct driver *d, struct perf_cpu *c, uint64_t id)
{
	const struct perf_source *source;

	if (_likely_(d->plan.count == 1))
		return 0;
	source = perf_cpu_source(c, id);
	return source ? source->counter : 0;
}

static void end_throttling(struct driver *d, struct perf_source *source, uint64_t at_ns)
{
	if (source->throttled_since && at_ns > source->throttled_since)
		d->stats.throttled_ns += at_ns - source->throttled_since;
	source->throttled_since = 0;
}

/* What the kernel says in a sample ring beside samples. */
static void handle_notice(struct driver *d, struct perf_cpu *c, const struct perf_record *r)
{
	struct perf_source *source = perf_cpu_source(c, r->id);

	switch (r->type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		c->lost_recorded += r->lost;
		break;
	case PERF_RECORD_THROTTLE:
		d->stats.throttled++;
		if (source)
			source->throttled_since = r->time_ns;
		break;
	case PERF_RECORD_UNTHROTTLE:
		if (source)
			end_throttling(d, source, r->time_ns);
		break;
	default: /* no other kind is of use */
		break;
	}
}

static void on_sample(size_t cpu, const struct perf_record *r, void *data)
{
	struct driver *d = data;
	struct perf_cpu *c = &d->cpus[cpu];

	if (_likely_(r->type == PERF_RECORD_SAMPLE))
		attribution_sample(&d->attribution, c->cpu, counter_of(d, c, r->id), r);
	else
		handle_notice(d, c, r);
}

/* Once a sync is enough: whoever reads the list of modules reads it as it is then. */
static void tell_kernel_change(struct driver *d)
{
	if (!d->sideband.kernel_changed || d->told_kernel_change)
		return;
	evbuf_code(d->out, EVBUF_MODULE_LOADED);
	d->sideband.kernel_changed = false;
	d->told_kernel_change = true;
}

static void on_change(size_t cpu, const struct perf_record *r, void *data)
{
	struct driver *d = data;

	(void)cpu;
	if (r->time_ns < d->sideband_since_ns)
		return;
	sideband_apply(&d->sideband, r, d->now_ns);
	tell_kernel_change(d);
}

static void on_bad(void *data)
{
	struct driver *d = data;

	d->stats.bad_record++;
}

/* Handles all records up to @until_ns. */
static void drain(struct driver *d, uint64_t until_ns)
{
	const struct merge_handler handler = { on_sample, on_change, on_bad, d };
	_cleanup_free_ struct merge_cpu *cpus = xcalloc(d->cpu_count, sizeof(*cpus));
	size_t i;

	for (i = 0; i < d->cpu_count; i++) {
		cpus[i].samples = &d->cpus[i].samples;
		cpus[i].sideband = &d->cpus[i].sideband;
	}
	merge_run(cpus, d->cpu_count, until_ns, &handler);
}

static bool any_ring_half_full(const struct driver *d)
{
	size_t i;

	for (i = 0; i < d->cpu_count; i++) {
		const struct perf_cpu *c = &d->cpus[i];

		if (ring_used(&c->samples) > c->samples.size / 2 ||
		    ring_used(&c->sideband) > c->sideband.size / 2)
			return true;
	}
	return false;
}

static int enable_all(struct driver *d, int (*enable)(struct perf_cpu *c, bool on), bool on)
{
	int r, failure = 0;
	size_t i;

	for (i = 0; i < d->cpu_count; i++) {
		r = enable(&d->cpus[i], on);
		failure = r < 0 ? r : failure;
	}
	return failure;
}

static void perf_stop(struct driver *d)
{
	uint64_t now_ns = clock_ns();
	size_t i, k;

	if (!d->running)
		return;
	(void)enable_all(d, perf_cpu_enable_samples, false);
	(void)enable_all(d, perf_cpu_enable_sideband, false);
	for (i = 0; i < d->cpu_count; i++) {
		for (k = 0; k < d->cpus[i].source_count; k++)
			end_throttling(d, &d->cpus[i].sources[k], now_ns);
		perf_cpu_read_lost(&d->cpus[i], &d->plan);
	}
	d->running = false;
}

/* The order matters: changes are recorded before the state is read, and the state is known before
 * the first sample. */
static int perf_start(struct driver *d, struct error *err)
{
	int r;

	if (d->running)
		return 0;
	d->now_ns = clock_ns();
	drain(d, UINT64_MAX);
	process_table_clear(&d->sideband.processes);
	r = enable_all(d, perf_cpu_enable_sideband, true);
	if (r == 0) {
		d->sideband_since_ns = d->now_ns = clock_ns();
		sideband_read_all(&d->sideband, d->now_ns);
		if (!d->plan.attrs.enable_on_exec)
			r = enable_all(d, perf_cpu_enable_samples, true);
	}
	d->running = true;
	if (r < 0) {
		perf_stop(d);
		return perf_plan_explain(&d->plan, r, "cannot enable the events", err);
	}
	return 0;
}

static size_t find_cpu(const struct driver *d, unsigned int cpu)
{
	size_t at = 0;

	while (at < d->cpu_count && d->cpus[at].cpu != cpu)
		at++;
	return at;
}

static void on_cpu_came(struct driver *d, unsigned int cpu)
{
	struct error err = ERROR_INIT;
	struct perf_cpu *c;

	if (add_cpu(d, cpu, &err) < 0) {
		log_warn("cpu %u came but cannot be sampled: %s", cpu, err.text);
		return;
	}
	c = &d->cpus[find_cpu(d, cpu)];
	if (d->running &&
	    (perf_cpu_enable_sideband(c, true) < 0 || perf_cpu_enable_samples(c, true) < 0))
		log_warn("cpu %u came but cannot be sampled", cpu);
	d->stats.cpu_hotplug++;
	log_info("cpu %u came: sampling it", cpu);
}

static bool listed(const unsigned int *cpus, int n, unsigned int cpu)
{
	int i;

	for (i = 0; i < n; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

/* Closes the events of CPUs that went, opens those of CPUs that came. What the gone ones left in
 * their rings was drained just before. */
static void look_at_cpus(struct driver *d)
{
	_cleanup_free_ unsigned int *cpus = NULL;
	size_t at;
	int i, n;

	if (d->now_ns < d->hotplug_looked_ns + HOTPLUG_EVERY_NS)
		return;
	d->hotplug_looked_ns = d->now_ns;
	n = cpulist_online(d->root, &cpus);
	if (n <= 0)
		return;
	for (at = d->cpu_count; at-- > 0;) {
		unsigned int cpu = d->cpus[at].cpu;

		if (listed(cpus, n, cpu))
			continue;
		remove_cpu(d, at);
		d->stats.cpu_hotplug++;
		log_info("cpu %u went: not sampling it", cpu);
	}
	/* An event of a task is there for the CPUs of its start; children inherit those only. */
	for (i = 0; i < n && d->plan.scope != DRIVER_TASK; i++)
		if (find_cpu(d, cpus[i]) == d->cpu_count)
			on_cpu_came(d, cpus[i]);
}

/* Takes what woke the reader off the epoll descriptor; a task that has ended would wake it for
 * ever. */
static void clear_wakeups(struct driver *d)
{
	struct epoll_event events[64];
	int i, n = epoll_wait(d->epoll, events, ARRAY_SIZE(events), 0);

	for (i = 0; i < n; i++)
		if (events[i].events & (EPOLLHUP | EPOLLERR))
			(void)epoll_ctl(d->epoll, EPOLL_CTL_DEL, events[i].data.fd, NULL);
}

static int perf_sync(struct driver *d, bool all, struct error *err)
{
	size_t i;
	int r;

	clear_wakeups(d);
	d->now_ns = d->attribution.now_ns = clock_ns();
	d->told_kernel_change = false;
	sideband_tidy(&d->sideband, d->now_ns);
	tell_kernel_change(d);
	if (all)
		drain(d, d->running ? d->now_ns : UINT64_MAX);
	else
		drain(d, d->now_ns - HORIZON_NS);
	/* Rather a sample before its time than one that is lost. */
	if (any_ring_half_full(d))
		drain(d, clock_ns());
	if (all)
		for (i = 0; i < d->cpu_count; i++)
			perf_cpu_read_lost(&d->cpus[i], &d->plan);
	look_at_cpus(d);
	r = evbuf_flush(d->out);
	if (r < 0)
		return error_errno(err, r, "cannot record the samples");
	return d->plan.scope != DRIVER_SYSTEM && !sideband_any_followed(&d->sideband);
}

static int perf_fd(const struct driver *d)
{
	return d->epoll;
}

static const struct event *perf_events(const struct driver *d, size_t *ret_count)
{
	*ret_count = d->plan.count;
	return d->plan.events;
}

static const char *perf_why(const struct driver *d)
{
	return d->plan.why;
}

static void perf_stats(const struct driver *d, struct driver_stats *ret)
{
	size_t i;

	*ret = d->stats;
	ret->sample_lost_overflow = d->lost_on_closed;
	for (i = 0; i < d->cpu_count; i++)
		ret->sample_lost_overflow += perf_cpu_lost(&d->cpus[i]);
}

const struct driver_ops driver_perf = {
	.name = "perf",
	.probe = perf_probe,
	.setup = perf_setup,
	.start = perf_start,
	.sync = perf_sync,
	.stop = perf_stop,
	.shutdown = perf_shutdown,
	.fd = perf_fd,
	.events = perf_events,
	.why = perf_why,
	.stats = perf_stats,
};
