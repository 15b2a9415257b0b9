/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/evderived.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/text.h"
#include "event/evsys.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char ibs[] = "ibs", offcpu[] = "offcpu";

/* Returns the kind for a feature's name in event descriptions, or IBS_KIND_COUNT_ if there is
 * none. */
static enum ibs_kind kind_of(const char *feature)
{
	enum ibs_kind kind = IBS_FETCH;

	while (kind < IBS_KIND_COUNT_ && strcmp(feature, ibs_kinds[kind].pmu) != 0)
		kind++;
	return kind;
}

/* The name of the kind's event that is most similar to @name. */
static const char *nearest(enum ibs_kind kind, const char *name)
{
	unsigned int distance, least = UINT32_MAX;
	const struct ibs_event *e;
	const char *best = "";
	size_t i;

	for (i = 0; (e = ibs_event_at(i)); i++) {
		distance = text_distance(name, e->name);
		if (e->kind == kind && distance < least) {
			least = distance;
			best = e->name;
		}
	}
	return best;
}

/* The first event of the kind, or NULL. */
static const struct ibs_event *first_of(const struct evderived *d, enum ibs_kind kind)
{
	size_t i;

	for (i = 0; i < d->event_count; i++)
		if (d->events[i]->kind == kind)
			return d->events[i];
	return NULL;
}

static bool has_event(const struct evderived *d, const struct ibs_event *event)
{
	size_t i;

	for (i = 0; i < d->event_count && d->events[i] != event; i++)
		;
	return i < d->event_count;
}

/* Checks that all events of the kind have the same terms. */
static int check_terms(const struct evderived *d, enum ibs_kind kind, const char *name,
		       const struct event_terms *terms, struct error *err)
{
	const struct event_terms *others = &d->ibs[kind];
	const struct ibs_event *first = first_of(d, kind);

	if (!first || !memcmp(others, terms, sizeof(*terms)))
		return 0;
	return error_set(err, -EINVAL,
			 "%s:%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64
			 " cannot be combined with %s:%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64
			 ": all IBS %s events are derived from the same samples, so that count and "
			 "unit mask, kernel and user must be the same",
			 name, terms->count, terms->unit_mask, terms->kernel, terms->user,
			 first->name, others->count, others->unit_mask, others->kernel,
			 others->user, ibs_kinds[kind].name);
}

static int add_ibs(struct evderived *d, enum ibs_kind kind, const struct event *e,
		   struct error *err)
{
	const struct ibs_event *event = ibs_event_find(e->name);
	const struct event_terms terms = { e->count, e->unit_mask, e->kernel, e->user };

	if (!event || event->kind != kind)
		return error_set(err, -EINVAL, "no IBS %s event '%s'; did you mean %s?",
				 ibs_kinds[kind].name, e->name, nearest(kind, e->name));
	if (e->count > ibs_kinds[kind].count_max)
		return error_set(err, -EINVAL,
				 "Count %" PRIu64 " for event %s is above the maximum %" PRIu64,
				 e->count, e->name, ibs_kinds[kind].count_max);
	if (check_terms(d, kind, e->name, &terms, err) < 0)
		return -EINVAL;
	d->ibs[kind] = terms;
	if (!has_event(d, event))
		d->events[d->event_count++] = event;
	return 0;
}

int evderived_add(struct evderived *d, const struct event *event, struct error *err)
{
	enum ibs_kind kind = kind_of(event->feature);
	bool is_offcpu = !strcmp(event->feature, offcpu);

	if (kind == IBS_KIND_COUNT_ && !is_offcpu)
		return error_set(err, -EINVAL,
				 "event %s is derived by '%s', which is not a known feature",
				 event->name, event->feature);
	if (is_offcpu ? d->event_count : evoffcpu_count(&d->offcpu))
		return error_set(err, -EINVAL,
				 "event %s: OFFCPU and IBS events cannot be combined: only one "
				 "extended feature can be enabled",
				 event->name);
	if (!is_offcpu)
		return add_ibs(d, kind, event, err);
	evoffcpu_add(&d->offcpu, event->name);
	return 0;
}

/* One part of the text while its list of events is read. */
struct part {
	struct evderived *d;
	struct event event; /* without a name */
	struct error *err;
};

static int add_named(const char *name, void *data)
{
	struct part *p = data;
	struct event event = p->event;

	(void)snprintf(event.name, sizeof(event.name), "%s", name);
	return evderived_add(p->d, &event, p->err);
}

/* Reads "COUNT[:MASK[:KERNEL[:USER]]]" after what strtok_r() took with @save. */
static int read_terms(struct part *p, const struct ibs_kind_info *kind, char **save)
{
	struct event_terms terms = { 0, 0, 1, 1 };
	const struct {
		const char *what;
		uint64_t min, max, *to;
	} numbers[] = {
		{ "count", 1, kind->count_max, &terms.count },
		{ "unit mask", 0, IBS_OP_MASK, &terms.unit_mask },
		{ "kernel", 0, 1, &terms.kernel },
		{ "user", 0, 1, &terms.user },
	};
	const char *text;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers) && (text = strtok_r(NULL, ":", save)); i++)
		if (parse_u64(text, numbers[i].min, numbers[i].max, numbers[i].to) < 0)
			return error_set(p->err, -EINVAL,
					 "IBS %s %s '%s' is not between %" PRIu64 " and %" PRIu64,
					 kind->name, numbers[i].what, text, numbers[i].min,
					 numbers[i].max);
	p->event = (struct event){ .count = terms.count,
				   .unit_mask = (uint32_t)terms.unit_mask,
				   .kernel = terms.kernel,
				   .user = terms.user,
				   .feature = kind->pmu };
	return 0;
}

/* Reads "KIND:EVENT,...:COUNT:MASK". */
static int add_part(const char *text, void *data)
{
	struct part *p = data;
	_cleanup_free_ char *copy = xstrdup(text);
	char *save = NULL, *name = strtok_r(copy, ":", &save), *list = strtok_r(NULL, ":", &save);
	enum ibs_kind kind = IBS_FETCH;

	if (!name)
		return 0;
	while (kind < IBS_KIND_COUNT_ && strcmp(name, ibs_kinds[kind].name) != 0)
		kind++;
	p->event.count = 0;
	if (kind < IBS_KIND_COUNT_ && list && read_terms(p, &ibs_kinds[kind], &save) < 0)
		return -EINVAL;
	if (!p->event.count)
		return error_set(
			p->err, -EINVAL,
			"'%s' is not fetch:EVENT,...:COUNT:MASK or op:EVENT,...:COUNT:MASK", text);
	return parse_list(list, ',', add_named, p);
}

static int parse_ibs(const char *args, struct evderived *d, struct error *err)
{
	struct part part = { .d = d, .err = err };
	int r = parse_list(args, '|', add_part, &part);

	return r < 0 || d->event_count ? r : error_set(err, -EINVAL, "ibs: no event given");
}

int evderived_parse(const char *text, struct evderived *ret, struct error *err)
{
	size_t length = strcspn(text, ":");
	_cleanup_free_ char *name = xstrndup(text, length);
	const char *args = text + length + (text[length] == ':');
	struct error why = ERROR_INIT;
	struct evderived d = { 0 };
	int r;

	if (!strcmp(name, ibs))
		r = parse_ibs(args, &d, err);
	else if (!strcmp(name, offcpu))
		r = evoffcpu_parse(args, &d.offcpu, &why);
	else
		r = error_set(err, -EINVAL, "no extended feature '%s'; available: %s, %s", name,
			      ibs, offcpu);
	if (r == 0)
		*ret = d;
	return why.code ? error_set(err, r, "%s: %s", offcpu, why.text) : r;
}

const char *evderived_name(const struct evderived *d)
{
	return evoffcpu_count(&d->offcpu) ? offcpu : d->event_count ? ibs : NULL;
}

bool evderived_event(const struct evderived *d, size_t i, struct event *ret)
{
	const struct event_terms *terms;

	if (i < evoffcpu_count(&d->offcpu)) {
		evoffcpu_event(&d->offcpu, i, ret);
		return true;
	}
	if (i >= d->event_count)
		return false;
	terms = &d->ibs[d->events[i]->kind];
	*ret = (struct event){ .count = terms->count,
			       .unit_mask = (uint32_t)terms->unit_mask,
			       .code = d->events[i]->code,
			       .kernel = terms->kernel,
			       .user = terms->user };
	(void)snprintf(ret->name, sizeof(ret->name), "%s", d->events[i]->name);
	return true;
}

int evderived_check(const char *root, const char *name, const char *feature, struct error *err)
{
	_cleanup_(evsys_pmu_done) struct evsys_pmu pmu = { 0 };
	enum ibs_kind kind = kind_of(feature);

	if (!root || kind == IBS_KIND_COUNT_ ||
	    evsys_pmu(root, ibs_kinds[kind].pmu, &pmu, NULL) == 0)
		return 0;
	return error_set(err, -EINVAL,
			 "event %s is derived from AMD's instruction-based samples, but PMU %s is "
			 "missing: no %s/sys/bus/event_source/devices/%s; IBS needs an AMD "
			 "processor of family 10h or later and is rarely available in virtual "
			 "machines; run ophelp to list this machine's events",
			 name, ibs_kinds[kind].pmu, root, ibs_kinds[kind].pmu);
}

const char *evderived_feature(const char *name)
{
	enum ibs_kind kind;

	for (kind = IBS_FETCH; kind < IBS_KIND_COUNT_; kind++)
		if (!strncmp(name, ibs_kinds[kind].prefix, strlen(ibs_kinds[kind].prefix)))
			return ibs_kinds[kind].pmu;
	return NULL;
}
