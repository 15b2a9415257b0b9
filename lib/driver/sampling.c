/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/sampling.h"

#include "base/clock.h"
#include "base/mem.h"
#include "perf/cpulist.h"

enum { LOOK_AT_CPUS_EVERY_NS = 1000000000 };

int sampling_plan(struct sampling *s, const char *driver, const struct driver_config *config,
		  struct error *err)
{
	unsigned int cpu = 0;
	int r = perf_targets_find(&s->targets, config, err);

	if (r == 0)
		r = cpulist_first(config->root, &cpu, err);
	return r < 0 ? r : perf_plan_make(&s->plan, driver, config, cpu, err);
}

int sampling_open(struct sampling *s, struct error *err)
{
	return perf_cpuset_open(&s->cpus, &s->plan, &s->targets, err);
}

void sampling_done(struct sampling *s)
{
	perf_cpuset_close(&s->cpus);
	perf_plan_done(&s->plan);
	perf_targets_done(&s->targets);
}

bool sampling_stop(struct sampling *s, uint64_t now_ns)
{
	size_t i;

	if (!s->running)
		return false;
	(void)perf_cpuset_enable_samples(&s->cpus, false);
	(void)perf_cpuset_enable_sideband(&s->cpus, false);
	for (i = 0; i < s->cpus.count; i++)
		perf_cpu_end_throttling(&s->cpus.cpus[i], now_ns, &s->stats);
	s->running = false;
	return true;
}

void sampling_read(struct sampling *s, const struct ring_merge_handler *handler, uint64_t until_ns)
{
	_cleanup_free_ struct ring_merge_cpu *cpus = xcalloc(s->cpus.count, sizeof(*cpus));
	size_t i;

	for (i = 0; i < s->cpus.count; i++) {
		/* A CPU on which no event counts has no sample ring. */
		if (s->cpus.cpus[i].source_count)
			cpus[i].samples = &s->cpus.cpus[i].samples;
		cpus[i].sideband = &s->cpus.cpus[i].sideband;
	}
	s->stats.bad_record += ring_merge_run(cpus, s->cpus.count, until_ns, handler);
}

bool sampling_look_at_cpus(struct sampling *s, uint64_t now_ns)
{
	struct perf_cpuset_change change;
	size_t i;

	if (now_ns < s->looked_at_cpus_ns + LOOK_AT_CPUS_EVERY_NS)
		return false;
	s->looked_at_cpus_ns = now_ns;
	perf_cpuset_update(&s->cpus, &change);
	for (i = 0; i < s->cpus.count && s->running; i++)
		perf_cpu_wander(&s->cpus.cpus[i], &s->plan, now_ns);
	s->stats.cpu_hotplug += change.came + change.went;
	return change.came;
}

int sampling_stretch(struct sampling *s, unsigned int cpu, uint32_t stretch)
{
	struct perf_cpu *c = perf_cpuset_find(&s->cpus, cpu);

	return c ? perf_cpu_stretch(c, &s->plan, stretch, clock_now_ns()) : 0;
}
