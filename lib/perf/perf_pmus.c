/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/perf_pmus.h"

#include "base/mem.h"
#include "file/path.h"
#include "perf/cpulist.h"
#include "event/evsys.h"

#include <errno.h>

/* The CPUs that the event's PMU names, rising; 0 where it names none, for each will do. */
static int cpus_of(const char *root, const struct event *event, unsigned int **ret)
{
	_cleanup_(evsys_pmu_done) struct evsys_pmu pmu = { 0 };
	const char *text;

	if (!*event->pmu || evsys_pmu(root, event->pmu, &pmu, NULL) < 0)
		return 0;
	text = pmu.cpumask ?: pmu.cpus;
	return text ? MAX(cpulist_parse(text, ret), 0) : 0;
}

bool perf_pmus_counts(const char *root, const struct event *event, unsigned int cpu)
{
	_cleanup_free_ unsigned int *cpus = NULL;
	int i, count = cpus_of(root, event, &cpus);

	for (i = 0; i < count; i++)
		if (cpus[i] == cpu)
			return true;
	return count == 0;
}

unsigned int perf_pmus_first_cpu(const char *root, const struct event *event,
				 unsigned int otherwise)
{
	_cleanup_free_ unsigned int *cpus = NULL;

	return cpus_of(root, event, &cpus) > 0 ? cpus[0] : otherwise;
}

int perf_pmus_check(const char *root, const struct event *events, size_t count, struct error *err)
{
	size_t i;

	for (i = 0; i < count; i++) {
		_cleanup_(evsys_pmu_done) struct evsys_pmu pmu = { 0 };

		if (!events[i].outside_cores)
			continue;
		if (evsys_pmu(root, events[i].pmu, &pmu, NULL) < 0 || !pmu.cpumask)
			pmu.cpumask = xstrdup("?");
		return error_set(err, -EINVAL,
				 "event %s counts for a whole socket (on CPUs %s), not for what "
				 "runs on a CPU: it can be counted (ocount --system-wide), not "
				 "sampled",
				 events[i].name, pmu.cpumask);
	}
	return 0;
}

bool perf_pmus_watchdog(const char *root)
{
	uint64_t on;

	return path_read_u64(root, "/proc/sys/kernel/nmi_watchdog", &on) == 0 && on;
}
