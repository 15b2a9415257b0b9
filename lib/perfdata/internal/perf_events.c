/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perfdata/internal/perf_events.h"

#include "base/macro.h"
#include "base/mem.h"
#include "perfdata/perf_file.h"

#include <inttypes.h>
#include <string.h>

/* Names of the events that have one number on all machines, for files that lack names. */
static const char *const hardware[] = {
	[PERF_COUNT_HW_CPU_CYCLES] = "cycles",
	[PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
	[PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
	[PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branches",
	[PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
	[PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
	[PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

static const char *const software[] = {
	[PERF_COUNT_SW_CPU_CLOCK] = "cpu-clock",
	[PERF_COUNT_SW_TASK_CLOCK] = "task-clock",
	[PERF_COUNT_SW_PAGE_FAULTS] = "page-faults",
	[PERF_COUNT_SW_CONTEXT_SWITCHES] = "context-switches",
	[PERF_COUNT_SW_CPU_MIGRATIONS] = "cpu-migrations",
	[PERF_COUNT_SW_PAGE_FAULTS_MIN] = "minor-faults",
	[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = "major-faults",
	[PERF_COUNT_SW_ALIGNMENT_FAULTS] = "alignment-faults",
	[PERF_COUNT_SW_EMULATION_FAULTS] = "emulation-faults",
};

/* The event's name as perf has it; caller frees. */
static char *perf_name(const struct perf_file_event *e)
{
	const char *const *names = e->attr.type == PERF_TYPE_HARDWARE ? hardware : software;
	size_t count =
		e->attr.type == PERF_TYPE_HARDWARE ? ARRAY_SIZE(hardware) : ARRAY_SIZE(software);

	if (e->name && *e->name)
		return xstrdup(e->name);
	if (e->attr.type <= PERF_TYPE_SOFTWARE && e->attr.config < count)
		return xstrdup(names[e->attr.config]);
	return xasprintf("event-%u-%" PRIx64, e->attr.type, (uint64_t)e->attr.config);
}

/* Writes the name as sample files can have it, like event_parse(): "sched~sched_switch",
 * "cpu~event=0x3c", without a modifier such as ":u". */
static void set_name(const struct perf_file_event *e, struct event *to)
{
	static const char kept[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "-_=~+";
	_cleanup_free_ char *name = perf_name(e);
	char *at, *colon = strrchr(name, ':');

	if (colon && strspn(colon + 1, "ukhGHpPDSeWIb") == strlen(colon + 1) &&
	    (e->attr.type != PERF_TYPE_TRACEPOINT || strchr(name, ':') != colon))
		*colon = '\0';
	at = strrchr(name, '/');
	if (at && strspn(at + 1, "ukhGHpPDSeWIb") == strlen(at + 1))
		*at = '\0';
	for (at = name; *at; at++) {
		if (*at == ':' || *at == '/')
			*at = '~';
		else if (*at == ',')
			*at = '+';
		else if (!strchr(kept, *at))
			*at = '_';
	}
	(void)snprintf(to->name, sizeof(to->name), "%.*s", EVENT_NAME_MAX - 4,
		       *name ? name : "event");
}

/* Numbers events of equal names, "cycles:u" and "cycles:k". */
static void make_unique(struct perf_events *all, size_t i)
{
	struct event *e = &all->list[i];
	size_t length = strlen(e->name), j;
	unsigned int number = 2;

	for (j = 0; j < i; j++) {
		if (strcmp(all->list[j].name, e->name) != 0)
			continue;
		(void)snprintf(e->name + length, sizeof(e->name) - length, "~%u", number++);
		j = (size_t)-1; /* again: that may be taken, too */
	}
}

struct periods {
	uint64_t samples;
	double sum;
};

/* Adds up periods, and finds the first and the last time. */
static void read_samples(const struct perf_file *file, struct perf_events *all,
			 struct periods *periods)
{
	struct perf_file_record record;
	struct perf_file_sample s;
	size_t i;

	for (i = 0; perf_file_record(file, i, &record); i++) {
		if (record.type != PERF_RECORD_SAMPLE || record.is_orphan ||
		    perf_file_sample(file, &record, &s) < 0)
			continue;
		periods[record.event].samples++;
		periods[record.event].sum += (double)s.period;
		if (s.time_ns && !all->first_ns)
			all->first_ns = s.time_ns;
		all->last_ns = MAX(all->last_ns, s.time_ns);
	}
}

static uint64_t count_of(const struct perf_event_attr *attr, const struct periods *periods)
{
	double mean = periods->samples ? periods->sum / (double)periods->samples : 0;

	if (!attr->freq)
		return MAX(attr->sample_period, 1ULL);
	return mean >= 1 && mean < (double)INT64_MAX ? (uint64_t)(mean + 0.5) : 1;
}

int perf_events_read(const struct perf_file *file, struct perf_events *ret, struct error *err)
{
	struct periods periods[EVENT_MAX] = { 0 };
	const struct perf_file_event *events = perf_file_events(file, &ret->count);
	size_t i;

	if (ret->count > EVENT_MAX)
		return error_set(err, -ENOTSUP,
				 "it has samples of %zu events; a session has %d at most",
				 ret->count, EVENT_MAX);
	ret->first_ns = ret->last_ns = 0;
	read_samples(file, ret, periods);
	for (i = 0; i < ret->count; i++) {
		const struct perf_event_attr *attr = &events[i].attr;

		ret->list[i] = (struct event){ .perf_type = attr->type,
					       .perf_config = attr->config,
					       .kernel = !attr->exclude_kernel,
					       .user = !attr->exclude_user };
		set_name(&events[i], &ret->list[i]);
		make_unique(ret, i);
		ret->list[i].count = count_of(attr, &periods[i]);
	}
	return 0;
}
