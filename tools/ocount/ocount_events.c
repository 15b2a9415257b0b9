/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/ocount/ocount_events.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <string.h>

enum { COLONS_MAX = 3 };

/* The specification with the empty count that event_parse() needs after the name. Caller frees. */
static char *with_count(const char *spec)
{
	size_t name = event_name_length(spec);

	return xasprintf("%.*s%s%s", (int)name, spec, spec[name] ? ":" : "", spec + name);
}

static bool same(const struct event *a, const struct event *b)
{
	return !strcmp(a->name, b->name) && a->unit_mask == b->unit_mask &&
	       a->perf_type == b->perf_type && a->perf_config == b->perf_config &&
	       a->kernel == b->kernel && a->user == b->user;
}

static int add_event(struct ocount_events *events, const struct event *event, const char *label,
		     struct error *err)
{
	size_t i;

	for (i = 0; i < events->count; i++)
		if (same(&events->events[i], event))
			return 0;
	if (events->count == EVENT_MAX)
		return error_set(err, -EINVAL, "more than %d events", EVENT_MAX);
	events->labels[events->count] = xstrdup(label);
	events->events[events->count++] = *event;
	return 0;
}

/* Adds a specification, which means several events if there are several types of cores. */
static int add_one(struct ocount_events *events, const char *spec, struct error *err)
{
	_cleanup_free_ char *full = with_count(spec);
	size_t colons = 0, at = event_name_length(spec);
	struct event parsed[EVENT_MAX];
	int i, n, r = 0;

	for (; spec[at]; at++)
		colons += spec[at] == ':';
	if (colons > COLONS_MAX)
		return error_set(err, -EINVAL,
				 "event '%s': ocount takes no count; write "
				 "NAME[:unitmask[:kernel[:user]]]",
				 spec);
	n = event_parse_list(full, parsed, err);
	for (i = 0; i < n && r == 0; i++)
		r = add_event(events, &parsed[i],
			      n > 1 || !strcmp(spec, "default") ? parsed[i].name : spec, err);
	return n < 0 ? n : r;
}

struct adding {
	struct ocount_events *events;
	struct error *err;
};

static int add_spec(const char *spec, void *data)
{
	const struct adding *a = data;

	return add_one(a->events, spec, a->err);
}

int ocount_events_add(struct ocount_events *events, const char *list, struct error *err)
{
	return event_each_spec(list, add_spec, &(struct adding){ events, err });
}

void ocount_events_add_defaults(struct ocount_events *events)
{
	static const char *const names[] = { "default",	    "INST_RETIRED",	"TASK_CLOCK",
					     "PAGE_FAULTS", "CONTEXT_SWITCHES", "CPU_MIGRATIONS" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		(void)add_one(events, names[i], NULL); /* not every CPU has all */
}

void ocount_events_done(struct ocount_events *events)
{
	size_t i;

	for (i = 0; i < events->count; i++)
		free(events->labels[i]);
	events->count = 0;
}
