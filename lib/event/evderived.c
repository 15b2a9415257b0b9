/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/evderived.h"

#include "base/mem.h"
#include "event/evsys.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

const struct ibs_kind_names ibs_kinds[IBS_KIND_COUNT_] = {
	[IBS_FETCH] = { "fetch", "ibs_fetch", "IBS_FETCH_" },
	[IBS_OP] = { "op", "ibs_op", "IBS_OP_" },
};

static const char offcpu[] = "offcpu";

/* Returns the kind for a feature's name, or IBS_KIND_COUNT_ if there is none. */
static enum ibs_kind kind_of(const char *feature)
{
	enum ibs_kind kind = IBS_FETCH;

	while (kind < IBS_KIND_COUNT_ && strcmp(feature, ibs_kinds[kind].pmu) != 0)
		kind++;
	return kind;
}

static bool is_listed(const char *names, const char *name)
{
	size_t length = strlen(name);
	const char *at = names;

	while ((at = strstr(at, name))) {
		if ((at == names || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
		at += length;
	}
	return false;
}

static bool same_samples(const struct event *a, const struct event *b)
{
	return a->count == b->count && a->unit_mask == b->unit_mask && a->kernel == b->kernel &&
	       a->user == b->user;
}

static int add_ibs(struct evderived *d, enum ibs_kind kind, const struct event *e,
		   struct error *err)
{
	struct event *first = &d->first[kind];

	if (!d->names[kind].length)
		*first = *e;
	if (!same_samples(first, e))
		return error_set(err, -EINVAL,
				 "%s:%" PRIu64 ":%u:%d:%d does not go with %s:%" PRIu64
				 ":%u:%d:%d: all IBS %s events are derived from the same samples, "
				 "so that count and unit mask, kernel and user must be the same",
				 e->name, e->count, e->unit_mask, e->kernel, e->user, first->name,
				 first->count, first->unit_mask, first->kernel, first->user,
				 ibs_kinds[kind].name);
	if (!is_listed(strbuf_text(&d->names[kind]), e->name))
		strbuf_addf(&d->names[kind], "%s%s", d->names[kind].length ? "," : "", e->name);
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
	if (is_offcpu ? d->names[IBS_FETCH].length || d->names[IBS_OP].length : d->offcpu)
		return error_set(err, -EINVAL,
				 "event %s: OFFCPU and IBS events are of different extended "
				 "features, of which one is enabled at a time",
				 event->name);
	d->offcpu |= is_offcpu;
	return is_offcpu ? 0 : add_ibs(d, kind, event, err);
}

char *evderived_text(const struct evderived *d)
{
	struct strbuf text = STRBUF_INIT;
	enum ibs_kind kind;

	if (d->offcpu)
		return xstrdup(offcpu);
	for (kind = IBS_FETCH; kind < IBS_KIND_COUNT_; kind++) {
		const struct event *e = &d->first[kind];

		if (!d->names[kind].length)
			continue;
		strbuf_addf(&text, "%s%s:%s:%" PRIu64 ":%u",
			    text.length ? "|" : "ibs:", ibs_kinds[kind].name,
			    strbuf_text(&d->names[kind]), e->count, e->unit_mask);
		if (!e->kernel || !e->user)
			strbuf_addf(&text, ":%d:%d", e->kernel, e->user);
	}
	return text.length ? strbuf_take(&text) : NULL;
}

void evderived_done(struct evderived *d)
{
	enum ibs_kind kind;

	for (kind = IBS_FETCH; kind < IBS_KIND_COUNT_; kind++)
		strbuf_done(&d->names[kind]);
}

int evderived_check(const char *root, const char *name, const char *feature, struct error *err)
{
	_cleanup_(evsys_pmu_done) struct evsys_pmu pmu = { 0 };
	enum ibs_kind kind = kind_of(feature);

	if (!root || kind == IBS_KIND_COUNT_ ||
	    evsys_pmu(root, ibs_kinds[kind].pmu, &pmu, NULL) == 0)
		return 0;
	return error_set(err, -EINVAL,
			 "event %s is derived from AMD's instruction-based samples, for which PMU "
			 "%s is missing: there is no %s/sys/bus/event_source/devices/%s. It takes "
			 "an AMD processor of family 10h or later, mostly not a virtual machine; "
			 "run ophelp to list this machine's events",
			 name, ibs_kinds[kind].pmu, root, ibs_kinds[kind].pmu);
}

const char *evderived_feature(const char *name)
{
	enum ibs_kind kind;

	for (kind = IBS_FETCH; kind < IBS_KIND_COUNT_; kind++)
		if (!strncmp(name, ibs_kinds[kind].start, strlen(ibs_kinds[kind].start)))
			return ibs_kinds[kind].pmu;
	return NULL;
}
