/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf_cpuset.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "perf/cpulist.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

/* Adds the rings of @c to the epoll set; a ring polls readable when half full. */
static void watch(struct perf_cpuset *set, const struct perf_cpu *c)
{
	const int fds[] = { c->sideband_fds[0], c->source_count ? c->sources[0].fd : -1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fds) && fds[i] >= 0; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.fd = fds[i] };

		/* If this fails, samples wait for the next regular sync. */
		(void)epoll_ctl(set->epoll, EPOLL_CTL_ADD, fds[i], &event);
	}
}

/* Opens the events of another CPU, keeping the array sorted. */
static int add_cpu(struct perf_cpuset *set, unsigned int cpu, struct error *err)
{
	struct perf_cpu c = { .cpu = cpu };
	size_t at = 0;
	int r = perf_cpu_open(&c, cpu, set->plan, set->targets, err);

	if (r < 0)
		return r;
	while (at < set->count && set->cpus[at].cpu < cpu)
		at++;
	set->cpus = xreallocarray(set->cpus, set->count + 1, sizeof(*set->cpus));
	memmove(set->cpus + at + 1, set->cpus + at, (set->count - at) * sizeof(*set->cpus));
	set->cpus[at] = c;
	set->count++;
	watch(set, &set->cpus[at]);
	if (set->sideband_on)
		r = perf_cpu_enable_sideband(&set->cpus[at], true);
	if (r == 0 && set->samples_on)
		r = perf_cpu_enable_samples(&set->cpus[at], true);
	return r < 0 ? error_errno(err, r, "cannot enable the events of cpu %u", cpu) : 0;
}

struct driver_cpu_stats *perf_cpuset_totals(struct perf_cpuset *set, unsigned int cpu)
{
	size_t old = set->total_count;

	if (_likely_(cpu < old))
		return &set->totals[cpu];
	set->total_count = cpu + 1;
	set->totals = xreallocarray(set->totals, set->total_count, sizeof(*set->totals));
	memset(set->totals + old, 0, (set->total_count - old) * sizeof(*set->totals));
	return &set->totals[cpu];
}

static void remove_cpu(struct perf_cpuset *set, size_t at)
{
	perf_cpuset_totals(set, set->cpus[at].cpu)->sample_lost_overflow +=
		perf_cpu_lost(&set->cpus[at]);
	set->waited_on_closed += set->cpus[at].waited_ns;
	perf_cpu_close(&set->cpus[at]);
	set->count--;
	memmove(set->cpus + at, set->cpus + at + 1, (set->count - at) * sizeof(*set->cpus));
}

static void remove_all(struct perf_cpuset *set)
{
	while (set->count)
		remove_cpu(set, set->count - 1);
}

static int add_online(struct perf_cpuset *set, struct error *err)
{
	_cleanup_free_ unsigned int *cpus = NULL;
	int i, r, n = cpulist_online(set->plan->root, &cpus);

	if (n < 0)
		return error_errno(err, n, "cannot read which CPUs are online");
	for (i = 0; i < n; i++) {
		r = add_cpu(set, cpus[i], err);
		/* A CPU may go between reading the list and opening. */
		if (r < 0 && r != -ENODEV)
			return r;
	}
	return set->count ? 0 : -ENODEV;
}

int perf_cpuset_open(struct perf_cpuset *ret, struct perf_plan *plan,
		     const struct perf_targets *targets, struct error *err)
{
	int r;

	*ret = (struct perf_cpuset){ .plan = plan, .targets = targets };
	ret->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (ret->epoll < 0)
		return error_errno(err, -errno, "cannot create an epoll descriptor");
	r = add_online(ret, err);
	while (r == -ENOBUFS && perf_plan_shrink(plan)) {
		remove_all(ret);
		r = add_online(ret, err);
	}
	return r;
}

void perf_cpuset_close(struct perf_cpuset *set)
{
	remove_all(set);
	free(set->cpus);
	free(set->totals);
	set->cpus = NULL;
	set->totals = NULL;
	set->total_count = 0;
	if (set->epoll >= 0)
		(void)close(set->epoll);
	set->epoll = -1;
}

void perf_cpuset_succeed(struct perf_cpuset *set, struct perf_cpuset *old)
{
	remove_all(old);
	set->totals = STEAL(old->totals);
	set->total_count = old->total_count;
	set->waited_on_closed = old->waited_on_closed;
	perf_cpuset_close(old);
}

static int enable_all(struct perf_cpuset *set, int (*enable)(struct perf_cpu *c, bool on), bool on)
{
	int r, failure = 0;
	size_t i;

	for (i = 0; i < set->count; i++) {
		r = enable(&set->cpus[i], on);
		failure = r < 0 ? r : failure;
	}
	return failure;
}

int perf_cpuset_enable_sideband(struct perf_cpuset *set, bool on)
{
	set->sideband_on = on;
	return enable_all(set, perf_cpu_enable_sideband, on);
}

int perf_cpuset_enable_samples(struct perf_cpuset *set, bool on)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		perf_cpu_tick(&set->cpus[i], set->plan, clock_now_ns(), on);
	set->samples_on = on;
	return enable_all(set, perf_cpu_enable_samples, on);
}

static bool is_sampled(const struct perf_cpuset *set, unsigned int cpu)
{
	size_t at;

	for (at = 0; at < set->count; at++)
		if (set->cpus[at].cpu == cpu)
			return true;
	return false;
}

void perf_cpuset_update(struct perf_cpuset *set, struct perf_cpuset_change *ret)
{
	_cleanup_free_ unsigned int *cpus = NULL;
	struct error err = ERROR_INIT;
	size_t at;
	int i, n = cpulist_online(set->plan->root, &cpus);

	*ret = (struct perf_cpuset_change){ 0 };
	for (at = set->count; n > 0 && at-- > 0;) {
		if (cpulist_has(cpus, n, set->cpus[at].cpu) &&
		    (set->plan->scope == DRIVER_TASK || !perf_cpu_stands_still(&set->cpus[at])))
			continue;
		log_info("cpu %u went offline: no longer sampled", set->cpus[at].cpu);
		remove_cpu(set, at);
		ret->went++;
	}
	/* Task events exist only for the CPUs present at the start, and children inherit only
	 * those. */
	for (i = 0; i < n && set->plan->scope != DRIVER_TASK; i++) {
		if (is_sampled(set, cpus[i]))
			continue;
		if (add_cpu(set, cpus[i], &err) < 0) {
			log_warn("cpu %u came online but cannot be sampled: %s", cpus[i], err.text);
			continue;
		}
		log_info("cpu %u came online: sampled", cpus[i]);
		ret->came++;
	}
}

void perf_cpuset_clear_wakeups(struct perf_cpuset *set)
{
	struct epoll_event events[64];
	int i, n = epoll_wait(set->epoll, events, ARRAY_SIZE(events), 0);

	/* An event of a task that has ended would wake the poller forever. */
	for (i = 0; i < n; i++)
		if (events[i].events & (EPOLLHUP | EPOLLERR))
			(void)epoll_ctl(set->epoll, EPOLL_CTL_DEL, events[i].data.fd, NULL);
}

bool perf_cpuset_half_full(const struct perf_cpuset *set)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		const struct perf_cpu *c = &set->cpus[i];

		if (ring_used(&c->samples) > c->samples.size / 2 ||
		    ring_used(&c->sideband) > c->sideband.size / 2)
			return true;
	}
	return false;
}

void perf_cpuset_read_lost(struct perf_cpuset *set)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		perf_cpu_read_lost(&set->cpus[i], set->plan);
}

uint64_t perf_cpuset_lost(const struct perf_cpuset *set)
{
	uint64_t lost = 0;
	size_t i;

	for (i = 0; i < set->total_count; i++)
		lost += set->totals[i].sample_lost_overflow;
	for (i = 0; i < set->count; i++)
		lost += perf_cpu_lost(&set->cpus[i]);
	return lost;
}

void perf_cpuset_cpu_stats(const struct perf_cpuset *set, unsigned int cpu,
			   struct driver_cpu_stats *ret)
{
	size_t i;

	*ret = cpu < set->total_count ? set->totals[cpu] : (struct driver_cpu_stats){ 0 };
	for (i = 0; i < set->count; i++)
		if (set->cpus[i].cpu == cpu)
			ret->sample_lost_overflow += perf_cpu_lost(&set->cpus[i]);
}

struct perf_cpu *perf_cpuset_find(struct perf_cpuset *set, unsigned int cpu)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		if (set->cpus[i].cpu == cpu)
			return &set->cpus[i];
	return NULL;
}

size_t perf_cpuset_costs(struct perf_cpuset *set, uint64_t now_ns, struct driver_cost *ret,
			 size_t room)
{
	size_t i, n = MIN(set->count, room);

	for (i = 0; i < n; i++) {
		struct perf_cpu *c = &set->cpus[i];

		perf_cpu_tick(c, set->plan, now_ns, set->samples_on);
		ret[i] = (struct driver_cost){ .cpu = c->cpu,
					       .stretch = c->stretch,
					       .samples = c->taken,
					       .interrupts = MAX(c->taken, (uint64_t)c->ticks) };
	}
	return n;
}

uint64_t perf_cpuset_waited_ns(const struct perf_cpuset *set)
{
	uint64_t waited_ns = set->waited_on_closed;
	size_t i;

	for (i = 0; i < set->count; i++)
		waited_ns += set->cpus[i].waited_ns;
	return waited_ns;
}
