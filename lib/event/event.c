/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/event.h"

#include "base/mem.h"
#include "event/catalog.h"
#include "event/cpu_type.h"
#include "event/evderived.h"
#include "event/evprobe.h"
#include "event/evtrace.h"
#include "event/internal/event_encode.h"
#include "event/internal/evname.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

struct list {
	const char *root;
	struct evsys_pmu *types; /* of cores, if there are several */
	size_t type_count;
	struct event *events;
	size_t count;
	bool features; /* derived events are allowed and collected in: */
	struct evderived derived;
	struct error *err;
};

/* Returns whether two events would write the same sample files. */
static bool event_same_files(const struct event *a, const struct event *b)
{
	return !strcmp(a->name, b->name) && a->count == b->count && a->unit_mask == b->unit_mask;
}

static bool event_same(const struct event *a, const struct event *b)
{
	return event_same_files(a, b) && a->rate_hz == b->rate_hz && a->kernel == b->kernel &&
	       a->user == b->user && a->no_hypervisor == b->no_hypervisor;
}

static int list_add_event(struct list *list, const struct event *event)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (event_same(&list->events[i], event))
			return 0;
		if (event_same_files(&list->events[i], event))
			return error_set(
				list->err, -EINVAL,
				"event %s is given twice, and both would go into the same profile",
				event->name);
	}
	if (list->count == EVENT_MAX)
		return error_set(list->err, -EINVAL, "more than %d events", EVENT_MAX);
	list->events[list->count++] = *event;
	return 0;
}

/* Returns whether the event is counted by the CPU's own counters. */
static bool is_core_event(const struct event *event)
{
	return !*event->pmu && event->perf_type != PERF_TYPE_SOFTWARE && !event->is_timer;
}

/* Adds one event per type of cores. */
static int list_add_types(struct list *list, const struct event *event)
{
	size_t i;
	int r = 0;

	for (i = 0; i < list->type_count && r == 0; i++) {
		const struct evsys_pmu *pmu = &list->types[i];
		struct event own = *event;
		int length = snprintf(own.name, sizeof(own.name), "%s~%s", pmu->name, event->name);

		if (length >= (int)sizeof(own.name) || strlen(pmu->name) >= sizeof(own.pmu))
			return error_set(list->err, -EINVAL, "event %s~%s: the name is too long",
					 pmu->name, event->name);
		strcpy(own.pmu, pmu->name);
		event_bind(&own, pmu);
		r = list_add_event(list, &own);
	}
	return r;
}

static int list_add(const char *spec, void *data)
{
	struct list *list = data;
	struct event event;

	if (event_parse_at(list->root, spec, &event, list->err) < 0)
		return -EINVAL;
	if (event.feature && !list->features)
		return error_set(list->err, -EINVAL,
				 "event %s is derived from samples (%s): it can be sampled, by "
				 "opcontrol or operf, but not counted",
				 event.name, event.feature);
	if (event.feature)
		return evderived_add(&list->derived, &event, list->err);
	if (list->type_count && is_core_event(&event))
		return list_add_types(list, &event);
	return list_add_event(list, &event);
}

size_t event_part_length(const char *text, const char *ends)
{
	bool inside = false;
	size_t i;

	for (i = 0; text[i]; i++) {
		inside ^= text[i] == '/';
		if (!inside && strchr(ends, text[i]))
			break;
	}
	return i;
}

size_t event_spec_length(const char *list, const char *separators)
{
	size_t probe = evprobe_length(list);

	return probe + event_part_length(list + probe, separators);
}

char *event_as_tracepoint(const char *root, const char *spec)
{
	_cleanup_free_ char *first = xstrndup(spec, strcspn(spec, ":~/"));
	struct evname found;

	return evname_find(catalog_of(cpu_type_detect(root, false)), first, &found)
		       ? NULL
		       : evtrace_join(root, spec);
}

size_t event_name_length(const char *spec)
{
	size_t probe = evprobe_length(spec);
	_cleanup_free_ char *trace = probe ? NULL : event_as_tracepoint("", spec);

	return probe   ? probe
	       : trace ? strcspn(trace, ":") + strlen(spec) - strlen(trace)
		       : event_part_length(spec, ":");
}

int event_each_spec(const char *specs, int (*item)(const char *spec, void *data), void *data)
{
	for (;;) {
		size_t length = event_spec_length(specs, ",");
		_cleanup_free_ char *spec = xstrndup(specs, length);
		int r = item(spec, data);

		if (r || !specs[length])
			return r;
		specs += length + 1;
	}
}

static void list_done(struct list *list)
{
	size_t i;

	for (i = 0; i < list->type_count; i++)
		evsys_pmu_done(&list->types[i]);
	free(list->types);
}

int event_parse_all_at(const char *root, const char *specs, struct event *events,
		       struct evderived *ret_derived, struct error *err)
{
	_cleanup_(list_done) struct list list = {
		.root = root, .events = events, .features = ret_derived, .err = err
	};

	if (!*specs)
		return error_set(err, -EINVAL, "the list of events is empty");
	list.type_count = evsys_core_types(root, &list.types);
	if (event_each_spec(specs, list_add, &list) < 0)
		return -EINVAL;
	if (evoffcpu_count(&list.derived.offcpu) && !list.count)
		return error_set(err, -EINVAL,
				 "event OFFCPU cannot be sampled alone; name another event, such "
				 "as 'default'");
	if (ret_derived)
		*ret_derived = list.derived;
	return (int)list.count;
}

int event_parse_all(const char *specs, struct event *events, struct evderived *ret_derived,
		    struct error *err)
{
	return event_parse_all_at("", specs, events, ret_derived, err);
}

int event_parse_list_at(const char *root, const char *specs, struct event *events,
			struct error *err)
{
	return event_parse_all_at(root, specs, events, NULL, err);
}

int event_parse_list(const char *specs, struct event *events, struct error *err)
{
	return event_parse_list_at("", specs, events, err);
}

void event_timer(struct event *ret, uint64_t rate_hz, bool kernel, bool user)
{
	event_fill(ret, catalog_find("TIMER"));
	ret->rate_hz = rate_hz;
	ret->kernel = kernel;
	ret->user = user;
}

bool event_clock_only(const struct event *events, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!events[i].is_timer)
			return false;
	return count > 0;
}

bool event_user_only(const struct event *events, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (events[i].kernel)
			return false;
	return count > 0;
}

/* Returns the mask as written in a specification: by name if it has one, because other masks can
 * have the same value. */
static char *mask_spec(const struct catalog *c, const struct event *event)
{
	const struct catalog_event *info = catalog_event_find(c, event->name);
	size_t i;

	if (*event->masks)
		return xstrdup(event->masks);
	for (i = 0; info && i < info->mask_count; i++)
		if (info->masks[i].name &&
		    catalog_mask_number(&info->masks[i]) == event->unit_mask &&
		    catalog_mask_named(info, info->masks[i].name) == &info->masks[i])
			return xstrdup(info->masks[i].name);
	return xasprintf("%u", event->unit_mask);
}

static char *spec_text(const struct catalog *c, const struct event *event)
{
	_cleanup_free_ char *mask = mask_spec(c, event);

	return xasprintf("%s:%" PRIu64 ":%s:%d:%d%s%s%.*s", event->name,
			 event->is_timer ? event->rate_hz : event->count, mask, event->kernel,
			 event->user, event->no_hypervisor ? ":0" : "",
			 event->precise_by ? ":" : "", event->precise_by, "ppp");
}

char *event_text(const struct event *event)
{
	return spec_text(catalog_here(), event);
}

char *event_text_on(const struct cpu_type *type, const struct event *event)
{
	return spec_text(catalog_of(type), event);
}

char *event_describe(const struct cpu_type *type, const char *name, uint64_t count,
		     uint64_t unit_mask)
{
	const struct catalog_event *info;
	struct evname found;

	/* The clock needs no catalogue, and reading the catalogue would be half the cost of a short
	 * report. */
	if (catalog_is_timer(name))
		return xstrdup("Profiling through timer interrupt");
	if (!evname_find(type ? catalog_of(type) : catalog_here(), name, &found))
		return xasprintf("Counted %s events with a unit mask of 0x%02" PRIx64
				 " count %" PRIu64,
				 name, unit_mask, count);
	info = found.event;
	return xasprintf("Counted %s events (%s) with a unit mask of 0x%02" PRIx64
			 " (%s) count %" PRIu64,
			 name, info->description, unit_mask, catalog_mask_text(info, unit_mask),
			 count);
}

void event_each(void (*each)(const char *name, const char *description, void *data), void *data)
{
	size_t i;

	for (i = 0; i < catalog_count(); i++)
		each(catalog_peek(i)->name, catalog_peek(i)->description, data);
}
