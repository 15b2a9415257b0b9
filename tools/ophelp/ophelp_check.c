/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/ophelp/ophelp_check.h"

#include "base/mem.h"
#include "event/allot.h"
#include "event/evderived.h"

#include <errno.h>
#include <string.h>

const struct catalog *ophelp_catalog(const struct ophelp_place *place)
{
	return place->root ? catalog_machine(place->root) : catalog_of(place->type);
}

int ophelp_parse(const struct ophelp_place *place, const char *spec, struct event *ret,
		 struct error *err)
{
	return place->root ? event_parse_at(place->root, spec, ret, err)
			   : event_parse_on(place->type, spec, ret, err);
}

enum { CHECK_MAX = ALLOT_MAX };
static_assert((int)CHECK_MAX >= (int)EVENT_MAX, "room for what can be sampled at a time");

struct check {
	const struct ophelp_place *place;
	bool ignore_count;
	struct evderived derived; /* events without a counter */
	struct event events[CHECK_MAX];
	uint64_t wanted[CHECK_MAX];
	size_t count, sampled; /* all events, and those that are not derived */
};

/* Returns the specification with an empty count. Caller frees. */
static char *without_count(const char *spec)
{
	size_t name = event_name_length(spec);
	const char *rest = spec[name] ? strchr(spec + name + 1, ':') : NULL;

	return xasprintf("%.*s%s%s", (int)name, spec, rest ? ":" : "", rest ?: "");
}

/* Returns the counters that can count @event. */
static uint64_t counters_of(const struct check *c, const struct event *event)
{
	const struct catalog_event *info;

	/* The kernel does not describe the counters of its PMUs. */
	if (*event->pmu)
		return 0;
	info = catalog_event_find(ophelp_catalog(c->place), event->name);
	/* Which counters can count a raw event is unknown. */
	return !info ? UINT64_MAX : info->kind == CATALOG_COUNTER ? info->counters : 0;
}

static int check_one(struct check *c, const char *spec, struct error *err)
{
	_cleanup_free_ char *bare = c->ignore_count ? without_count(spec) : xstrdup(spec);

	struct event *event = &c->events[c->count];

	if (c->count == CHECK_MAX || c->sampled == EVENT_MAX)
		return error_set(err, -EINVAL, "more than %d events",
				 c->count == CHECK_MAX ? CHECK_MAX : EVENT_MAX);
	if (ophelp_parse(c->place, bare, event, err) < 0)
		return -EINVAL;
	c->wanted[c->count++] = counters_of(c, event);
	c->sampled += !event->feature;
	return event->feature ? evderived_add(&c->derived, event, err) : 0;
}

/* "events A, B and C collide: each needs its own counter out of 0, 1" */
static int say_collision(const struct check *c, const struct allotment *a, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT, counters = STRBUF_INIT;
	size_t i, left = (size_t)__builtin_popcountll(a->collide);

	for (i = 0; i < ALLOT_MAX; i++) {
		if (a->contended >> i & 1)
			strbuf_addf(&counters, "%s%zu", counters.length ? ", " : "", i);
		if (a->collide >> i & 1)
			strbuf_addf(&names, "%s%s", c->events[i].name,
				    --left == 0 ? ""
				    : left == 1 ? " and "
						: ", ");
	}
	return error_set(err, -EBUSY, "events %s collide: each needs its own counter out of %s",
			 strbuf_text(&names), strbuf_text(&counters));
}

int ophelp_check(const struct ophelp_place *place, const char *list, bool ignore_count,
		 struct strbuf *out, struct error *err)
{
	static const char separators[] = ", \t\n";
	struct check c = { .place = place, .ignore_count = ignore_count };
	struct allotment a;
	size_t i;

	for (list += strspn(list, separators); *list; list += strspn(list, separators)) {
		_cleanup_free_ char *spec = xstrndup(list, event_spec_length(list, separators));

		if (check_one(&c, spec, err) < 0)
			return -EINVAL;
		list += strlen(spec);
	}
	if (!c.count)
		return error_set(err, -EINVAL, "the list of events is empty");
	if (allot(c.wanted, c.count, &a) < 0)
		return say_collision(&c, &a, err);
	for (i = 0; i < c.count; i++) {
		strbuf_adds(out, i ? " " : "");
		if (a.counter[i] == ALLOT_NONE)
			strbuf_adds(out, "-");
		else
			strbuf_addf(out, "%d", a.counter[i]);
	}
	strbuf_adds(out, "\n");
	return 0;
}
