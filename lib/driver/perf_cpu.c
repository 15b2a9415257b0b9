/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf_cpu.h"

#include "base/clock.h"
#include "base/mem.h"
#include "file/path.h"
#include "perf/perf_pmus.h"
#include "perf/perf_record.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sys/ioctl.h>

static int ring_failed(const struct perf_plan *plan, int code, unsigned int cpu, struct error *err)
{
	uint64_t kib;

	if (code != -EPERM && code != -ENOMEM)
		return error_errno(err, code, "cannot map the rings of cpu %u", cpu);
	if (path_read_u64(plan->root, "/proc/sys/kernel/perf_event_mlock_kb", &kib) < 0)
		kib = 0;
	return error_set(err, -ENOBUFS,
			 "cannot map the rings of cpu %u: kernel.perf_event_mlock_kb (%" PRIu64
			 ") is used up; stop other profilers, or raise it or ulimit -l",
			 cpu, kib);
}

static int failed(const struct perf_plan *plan, int code, const char *what, unsigned int cpu,
		  struct error *err)
{
	_cleanup_free_ char *step = xasprintf("cannot %s on cpu %u", what, cpu);

	return perf_plan_explain(plan, code, step, err);
}

/* Opens the ring on the first event, or redirects @fd to it. */
static int join_ring(struct ring *ring, int fd, int owner, size_t bytes)
{
	if (!ring->page)
		return ring_map(ring, fd, bytes);
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner) < 0 ? -errno : 0;
}

static const struct event *event_of(const struct perf_plan *plan, unsigned int counter)
{
	return counter < PERF_PLAN_IBS ? &plan->events[counter]
				       : &plan->ibs[counter - PERF_PLAN_IBS];
}

static int open_sampling(struct perf_cpu *c, unsigned int counter, struct perf_plan *plan,
			 pid_t pid)
{
	return counter == PERF_PLAN_LEAVING
		       ? perf_event_open_leaving(&plan->attrs, pid, c->cpu)
		       : perf_event_open_sampling(&plan->attrs, event_of(plan, counter), pid,
						  c->cpu);
}

/* Whether the period of @s is ours to choose, and long enough for some percent of it. Tasks that
 * inherited an event keep the period that it had. */
static bool can_wander(const struct perf_source *s, const struct perf_plan *plan)
{
	enum { COUNT_LEAST = 1000 };
	const struct event *e;

	if (s->counter >= PERF_PLAN_IBS || plan->attrs.inherit)
		return false;
	e = &plan->events[s->counter];
	return perf_plan_clock_hz(e) || (!e->rate_hz && e->count >= COUNT_LEAST);
}

/* The period of @s, or its frequency if the kernel adjusts the period to one. */
static uint64_t period_of(const struct perf_source *s, const struct perf_plan *plan,
			  uint32_t stretch)
{
	const struct event *e = &plan->events[s->counter];
	double by = (double)stretch / STRETCH_ONE;

	if (can_wander(s, plan))
		by *= s->wander.factor;
	/* The kernel converts the clock's frequency to a period. */
	if (e->rate_hz && perf_plan_clock_hz(e))
		return (uint64_t)(1e9 / (double)e->rate_hz * by);
	if (e->rate_hz)
		return MAX((uint64_t)((double)e->rate_hz / by), 1ULL);
	return (uint64_t)((double)e->count * by);
}

/* Returns 0 or -errno. */
static int set_period(const struct perf_source *s, const struct perf_plan *plan, uint32_t stretch)
{
	uint64_t period = period_of(s, plan, stretch);

	return ioctl(s->fd, PERF_EVENT_IOC_PERIOD, &period) < 0 ? -errno : 0;
}

static int open_source(struct perf_cpu *c, unsigned int counter, struct perf_plan *plan, pid_t pid,
		       struct error *err)
{
	struct perf_source *s = &c->sources[c->source_count];
	int r, fd = open_sampling(c, counter, plan, pid);

	if (fd < 0)
		return failed(plan, fd, "open the events", c->cpu, err);
	*s = (struct perf_source){ .fd = fd, .attached = -1, .counter = counter };
	c->source_count++;
	if (plan->attach) {
		s->attached = plan->attach(fd, counter, plan->attach_data);
		if (s->attached < 0)
			return failed(plan, s->attached, "attach to the events", c->cpu, err);
	}
	if (ioctl(fd, PERF_EVENT_IOC_ID, &s->id) < 0)
		return failed(plan, -errno, "number the events", c->cpu, err);
	wander_init(&s->wander, clock_now_ns() ^ s->id);
	if (can_wander(s, plan))
		(void)set_period(s, plan, STRETCH_ONE);
	r = join_ring(&c->samples, fd, c->sources[0].fd, plan->attrs.sample_bytes);
	return r < 0 ? ring_failed(plan, r, c->cpu, err) : 0;
}

static int open_sideband(struct perf_cpu *c, struct perf_plan *plan, pid_t pid, struct error *err)
{
	int r, fd = perf_event_open_sideband(&plan->attrs, pid, c->cpu);

	if (fd < 0)
		return failed(plan, fd, "follow mmap, exec, fork and exit", c->cpu, err);
	c->sideband_fds[c->sideband_count++] = fd;
	r = join_ring(&c->sideband, fd, c->sideband_fds[0], plan->attrs.sideband_bytes);
	return r < 0 ? ring_failed(plan, r, c->cpu, err) : 0;
}

static int open_switches(struct perf_cpu *c, const struct perf_plan *plan, struct error *err)
{
	int r, fd = perf_event_open_switches(&plan->attrs, c->cpu);

	if (fd < 0)
		return failed(plan, fd, "follow context switches", c->cpu, err);
	c->sideband_fds[c->sideband_count++] = fd;
	r = join_ring(&c->sideband, fd, c->sideband_fds[0], plan->attrs.sideband_bytes);
	return r < 0 ? ring_failed(plan, r, c->cpu, err) : 0;
}

static int open_target(struct perf_cpu *c, struct perf_plan *plan, pid_t pid, struct error *err)
{
	unsigned int i;
	int r = open_sideband(c, plan, pid, err);

	if (r == 0 && plan->switches)
		r = open_switches(c, plan, err);

	for (i = 0; i < plan->count && r == 0; i++)
		if (perf_pmus_counts(plan->root, &plan->events[i], c->cpu))
			r = open_source(c, i, plan, pid, err);
	for (i = 0; i < ARRAY_SIZE(plan->ibs) && r == 0; i++)
		if (plan->has_ibs[i])
			r = open_source(c, PERF_PLAN_IBS + i, plan, pid, err);
	if (r == 0 && plan->switches)
		r = open_source(c, PERF_PLAN_LEAVING, plan, pid, err);
	return r;
}

int perf_cpu_open(struct perf_cpu *ret, unsigned int cpu, struct perf_plan *plan,
		  const struct perf_targets *targets, struct error *err)
{
	struct perf_cpu c = { .cpu = cpu, .stretch = STRETCH_ONE, .stretch_before = STRETCH_ONE };
	size_t i, opened = 0;
	int r;

	c.sources = xcalloc(targets->count * (plan->count + ARRAY_SIZE(plan->ibs) + 1),
			    sizeof(*c.sources));
	c.sideband_fds = xcalloc(targets->count + plan->switches, sizeof(*c.sideband_fds));
	for (i = 0; i < targets->count; i++) {
		r = open_target(&c, plan, targets->pids[i], err);
		/* A thread may end while we iterate. */
		if (r == -ESRCH && targets->count > 1)
			continue;
		if (r < 0) {
			perf_cpu_close(&c);
			return r;
		}
		opened++;
	}
	if (!opened) {
		perf_cpu_close(&c);
		return failed(plan, -ESRCH, "open the events", cpu, err);
	}
	*ret = c;
	return 0;
}

void perf_cpu_close(struct perf_cpu *c)
{
	size_t i;

	ring_done(&c->samples);
	ring_done(&c->sideband);
	for (i = 0; i < c->source_count; i++) {
		cleanup_closep(&c->sources[i].attached);
		(void)close(c->sources[i].fd);
	}
	for (i = 0; i < c->sideband_count; i++)
		(void)close(c->sideband_fds[i]);
	free(c->sources);
	free(c->sideband_fds);
	*c = (struct perf_cpu){ 0 };
}

static int enable(int fd, bool on)
{
	return ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) < 0 ? -errno : 0;
}

int perf_cpu_enable_sideband(struct perf_cpu *c, bool on)
{
	int r, failure = 0;
	size_t i;

	c->alive_ns = 0;
	c->sideband_on = on;
	for (i = 0; i < c->sideband_count; i++) {
		r = enable(c->sideband_fds[i], on);
		failure = r < 0 ? r : failure;
	}
	return failure;
}

int perf_cpu_enable_samples(struct perf_cpu *c, bool on)
{
	int r, failure = 0;
	size_t i;

	for (i = 0; i < c->source_count; i++) {
		r = enable(c->sources[i].fd, on);
		failure = r < 0 ? r : failure;
	}
	return failure;
}

bool perf_cpu_stands_still(struct perf_cpu *c)
{
	uint64_t before_ns = c->alive_ns;

	if (!c->sideband_on || !c->sideband_count)
		return false;
	c->alive_ns = perf_event_enabled_ns(c->sideband_fds[0]);
	return before_ns && c->alive_ns == before_ns;
}

/* Adds samples lost since the last call to ->lost, scaled by the stretch now in force. */
static void settle_lost(struct perf_cpu *c)
{
	uint64_t all = MAX(c->lost_recorded, c->lost_read);

	if (all <= c->lost_settled)
		return;
	c->lost += (all - c->lost_settled) * c->stretch / STRETCH_ONE;
	c->lost_settled = all;
}

void perf_cpu_read_lost(struct perf_cpu *c, const struct perf_plan *plan)
{
	size_t i;

	c->lost_read = c->waited_ns = 0;
	for (i = 0; i < c->source_count; i++) {
		struct perf_event_losses losses = perf_event_lost(&plan->attrs, c->sources[i].fd);

		c->lost_read += losses.samples;
		c->waited_ns += losses.waited_ns;
	}
	settle_lost(c);
}

uint64_t perf_cpu_lost(const struct perf_cpu *c)
{
	return c->lost;
}

int perf_cpu_stretch(struct perf_cpu *c, const struct perf_plan *plan, uint32_t stretch,
		     uint64_t now_ns)
{
	size_t i;

	settle_lost(c);
	for (i = 0; i < c->source_count; i++) {
		int r;

		/* Samples of extended features carry their own weight. */
		if (c->sources[i].counter >= PERF_PLAN_IBS)
			continue;
		r = set_period(&c->sources[i], plan, stretch);
		if (r < 0)
			return r;
	}
	perf_cpu_tick(c, plan, now_ns, c->ticked_ns);
	c->stretch_before = c->stretch;
	c->stretch = stretch;
	c->stretched_ns = now_ns;
	return 0;
}

void perf_cpu_wander(struct perf_cpu *c, const struct perf_plan *plan, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < c->source_count; i++) {
		struct perf_source *s = &c->sources[i];
		uint64_t counted;
		double samples;

		if (!can_wander(s, plan) || !wander_is_due(&s->wander, now_ns, HUGE_VAL))
			continue;
		counted = perf_event_lost(&plan->attrs, s->fd).counted;
		if (counted < s->counted) /* it could not be read */
			continue;
		samples = (double)(counted - s->counted) / (double)period_of(s, plan, c->stretch);
		if (!wander_is_due(&s->wander, now_ns, samples))
			continue;
		wander_change(&s->wander, now_ns, samples);
		s->counted = counted;
		/* If that fails, the event keeps its period. */
		(void)set_period(s, plan, c->stretch);
	}
}

uint32_t perf_cpu_stretch_at(const struct perf_cpu *c, uint64_t at_ns)
{
	return at_ns >= c->stretched_ns ? c->stretch : c->stretch_before;
}

void perf_cpu_tick(struct perf_cpu *c, const struct perf_plan *plan, uint64_t now_ns, bool on)
{
	double hz = 0;
	size_t i;

	for (i = 0; i < c->source_count; i++)
		if (c->sources[i].counter < PERF_PLAN_IBS)
			hz += (double)perf_plan_clock_hz(&plan->events[c->sources[i].counter]);
	if (c->ticked_ns && now_ns > c->ticked_ns)
		c->ticks += (double)(now_ns - c->ticked_ns) * hz * STRETCH_ONE / c->stretch / 1e9;
	c->ticked_ns = on ? now_ns : 0;
}

struct perf_source *perf_cpu_source(struct perf_cpu *c, uint64_t id)
{
	/* The kernel numbers events in the order they are opened, so ->sources is sorted by id. */
	size_t at = FIRST_NOT(i, 0, c->source_count, c->sources[i].id < id);

	return at < c->source_count && c->sources[at].id == id ? &c->sources[at] : NULL;
}

static void end_throttling(struct perf_source *source, uint64_t at_ns, struct driver_stats *stats)
{
	if (source->throttled_since && at_ns > source->throttled_since)
		stats->throttled_ns += at_ns - source->throttled_since;
	source->throttled_since = 0;
}

void perf_cpu_notice(struct perf_cpu *c, const struct perf_record *r, struct driver_stats *stats)
{
	struct perf_source *source = perf_cpu_source(c, r->id);

	switch (r->type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		c->lost_recorded += r->lost;
		settle_lost(c);
		break;
	case PERF_RECORD_THROTTLE:
		stats->throttled++;
		if (source)
			source->throttled_since = r->time_ns;
		break;
	case PERF_RECORD_UNTHROTTLE:
		if (source)
			end_throttling(source, r->time_ns, stats);
		break;
	default: /* other kinds are ignored */
		break;
	}
}

void perf_cpu_end_throttling(struct perf_cpu *c, uint64_t now_ns, struct driver_stats *stats)
{
	size_t i;

	for (i = 0; i < c->source_count; i++)
		end_throttling(&c->sources[i], now_ns, stats);
}
