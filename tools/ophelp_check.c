/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ophelp_check.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>

enum { COUNTERS_MAX = 64 };

/* A matching of events and counters, which grows by augmenting paths. */
struct matching {
	const uint64_t *wanted;
	int owner[COUNTERS_MAX]; /* the event that has the counter, -1: none */
};

/* The lowest free counter for @event, -1 if there is none. */
static int free_counter(const struct matching *m, size_t event)
{
	int counter;

	for (counter = 0; counter < COUNTERS_MAX; counter++)
		if (m->wanted[event] >> counter & 1 && m->owner[counter] < 0)
			return counter;
	return -1;
}

/* Finds a counter for @event, moving others to another one if need be; @tried are those looked at.
 */
static bool place(struct matching *m, size_t event, uint64_t *tried)
{
	int counter = free_counter(m, event);

	if (counter >= 0) {
		m->owner[counter] = (int)event;
		return true;
	}
	for (counter = 0; counter < COUNTERS_MAX; counter++) {
		uint64_t bit = 1ULL << counter;

		if (!(m->wanted[event] & bit) || *tried & bit)
			continue;
		*tried |= bit;
		if (!place(m, (size_t)m->owner[counter], tried))
			continue;
		m->owner[counter] = (int)event;
		return true;
	}
	return false;
}

int ophelp_allot(const uint64_t *wanted, size_t count, int *ret, size_t *ret_which)
{
	struct matching m = { .wanted = wanted };
	size_t i;

	memset(m.owner, -1, sizeof(m.owner));
	for (i = 0; i < count; i++) {
		uint64_t tried = 0;

		ret[i] = OPHELP_NO_COUNTER;
		if (wanted[i] && !place(&m, i, &tried)) {
			*ret_which = i;
			return -EBUSY;
		}
	}
	for (i = 0; i < COUNTERS_MAX; i++)
		if (m.owner[i] >= 0)
			ret[m.owner[i]] = (int)i;
	return 0;
}

struct check {
	const struct cpu_type *type;
	bool ignore_count;
	struct event events[EVENT_MAX];
	uint64_t wanted[EVENT_MAX];
	size_t count;
};

/* The specification with its count left empty. Caller frees. */
static char *without_count(const char *spec)
{
	size_t name = strcspn(spec, ":");
	const char *rest = spec[name] ? strchr(spec + name + 1, ':') : NULL;

	return xasprintf("%.*s%s%s", (int)name, spec, rest ? ":" : "", rest ?: "");
}

static int check_one(struct check *c, const char *spec, struct error *err)
{
	_cleanup_free_ char *bare = c->ignore_count ? without_count(spec) : xstrdup(spec);
	const struct catalog_event *info;

	if (c->count == EVENT_MAX)
		return error_set(err, -EINVAL, "more than %d events", EVENT_MAX);
	if (event_parse_on(c->type, bare, &c->events[c->count], err) < 0)
		return -EINVAL;
	info = catalog_event_find(catalog_of(c->type), c->events[c->count].name);
	/* Of a raw event it is not known which counters can count it. */
	c->wanted[c->count++] = !info				? UINT64_MAX
				: info->kind == CATALOG_COUNTER ? info->counters
								: 0;
	return 0;
}

int ophelp_check(const struct cpu_type *type, const char *list, bool ignore_count,
		 struct strbuf *out, struct error *err)
{
	static const char separators[] = ", \t\n";
	struct check c = { .type = type, .ignore_count = ignore_count };
	int counters[EVENT_MAX];
	size_t i, which;

	for (list += strspn(list, separators); *list; list += strspn(list, separators)) {
		_cleanup_free_ char *spec = xstrndup(list, strcspn(list, separators));

		if (check_one(&c, spec, err) < 0)
			return -EINVAL;
		list += strlen(spec);
	}
	if (!c.count)
		return error_set(err, -EINVAL, "the list of events is empty");
	if (ophelp_allot(c.wanted, c.count, counters, &which) < 0)
		return error_set(err, -EBUSY,
				 "event %s: no counter is left for it; those that can count it are "
				 "taken by the events before",
				 c.events[which].name);
	for (i = 0; i < c.count; i++) {
		strbuf_adds(out, i ? " " : "");
		if (counters[i] == OPHELP_NO_COUNTER)
			strbuf_adds(out, "-");
		else
			strbuf_addf(out, "%d", counters[i]);
	}
	strbuf_adds(out, "\n");
	return 0;
}
