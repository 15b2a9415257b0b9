/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/diff.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "profile/select/classes.h"
#include "profile/rows/container.h"
#include "profile/rows/diff_match.h"
#include "profile/select/gather.h"
#include "profile/rows/statistics.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct {
	const char *name, *meaning;
} kinds[] = {
#define X(by, name, meaning) [DIFF_##by] = { name, meaning },
	DIFF_BY(X)
#undef X
};

int diff_by_parse(const char *text, struct error *err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(text, kinds[i].name))
			return (int)i;
	return error_set(err, -EINVAL, "--compare: '%s' is not one of share, samples", text);
}

const char *diff_by_meaning(enum diff_by by)
{
	return kinds[by].meaning;
}

const char *diff_change_name(enum diff_change change)
{
	static const char *const names[] = {
#define X(change, name) [DIFF_##change] = name,
		DIFF_CHANGES(X)
#undef X
	};

	return names[change];
}

/* --- classes --- */

static void add_class(struct strbuf *out, const struct class *c)
{
	strbuf_addf(out, "%s%s", out->length ? ", " : "", c->event);
	if (c->count)
		strbuf_addf(out, " count %" PRId64, c->count);
	if (c->unit_mask != SNAME_ALL && c->unit_mask)
		strbuf_addf(out, " unit mask %#" PRIx32, (uint32_t)c->unit_mask);
	if (c->task.cgroup)
		strbuf_addf(out, " cgroup %s", c->task.cgroup);
	if (c->task.tgid != SNAME_ALL)
		strbuf_addf(out, " tgid %" PRId64, c->task.tgid);
	if (c->task.tid != SNAME_ALL)
		strbuf_addf(out, " tid %" PRId64, c->task.tid);
	if (c->task.cpu != SNAME_ALL)
		strbuf_addf(out, " cpu %" PRId64, c->task.cpu);
}

/* Adds a list of the columns, for messages; a report may have hundreds of them. */
static void list_classes(struct strbuf *out, const struct classes *c)
{
	enum { LISTED_MAX = 6 };
	size_t i;

	for (i = 0; i < c->count && i < LISTED_MAX; i++)
		add_class(out, &c->classes[i]);
	if (c->count > LISTED_MAX)
		strbuf_addf(out, " and %zu more", c->count - LISTED_MAX);
}

static bool same_class(const struct class *a, const struct class *b)
{
	return !strcmp(a->event, b->event) && a->count == b->count &&
	       a->unit_mask == b->unit_mask && sname_task_equal(&a->task, &b->task);
}

static bool same_classes(const struct classes *a, const struct classes *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (!same_class(&a->classes[i], &b->classes[i]))
			return false;
	return true;
}

static int check_classes(const struct classes *a, const struct classes *b, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
	bool by_axis = a->axis > AXIS_EVENT || b->axis > AXIS_EVENT;

	if (same_classes(a, b))
		return 0;
	list_classes(&first, a);
	list_classes(&second, b);
	return error_set(err, -EINVAL,
			 "the two profiles have different columns: the first %s; the second %s; %s",
			 strbuf_text(&first), strbuf_text(&second),
			 by_axis ? "use --merge=all to merge processes, threads and CPUs"
				 : "choose what both have with event:NAME or count:N");
}

/* --- rows --- */

static uint64_t *copy_counts(struct container *c, const uint64_t *counts)
{
	size_t size = c->class_count * sizeof(*counts);

	return memcpy(arena_alloc(&c->arena, size), counts, size);
}

/* Adds a row of the first profile as gone. */
static void add_gone(struct container *to, const struct row *row, const uint32_t *images)
{
	struct row copy = { .image = images[row->image],
			    .app = row->app == GATHER_NONE ? GATHER_NONE : images[row->app],
			    .kind = row->kind,
			    .address = row->address,
			    .place = row->place,
			    .is_inlined = row->is_inlined,
			    .is_gone = true };
	struct row *added;

	if (row->symbol)
		copy.symbol = container_symbol(to, row->symbol->name);
	added = container_add_row(to, &copy);
	memcpy(added->counts, row->counts, to->class_count * sizeof(*row->counts));
	added->before = copy_counts(to, row->counts);
}

int diff_compare(const struct diff_side *first, struct diff_side *second, struct error *err)
{
	struct container *to = second->container;
	_cleanup_free_ uint32_t *images = NULL, *partners = NULL;
	size_t i;
	int r = check_classes(first->classes, second->classes, err);

	if (r < 0)
		return r;
	images = diff_match_images(first->gather, second->gather);
	partners = diff_match_rows(first, second, images);
	to->before_totals = copy_counts(to, first->container->totals);
	to->before_weight = first->container->weight;
	for (i = 0; i < first->container->count; i++) {
		const struct row *row = &first->container->rows[i];

		if (partners[i] == GATHER_NONE)
			add_gone(to, row, images);
		else
			to->rows[partners[i]].before = copy_counts(to, row->counts);
	}
	return 0;
}

/* --- what a row shows --- */

static bool is_significant(const struct container *c, uint64_t before, uint64_t after, size_t class,
			   enum diff_by by)
{
	const struct statistics_part was = { before, c->before_totals[class], c->before_weight };
	const struct statistics_part is = { after, c->totals[class], c->weight };

	switch (by) {
	case DIFF_SHARE:
		return statistics_shares_differ(was, is);
	case DIFF_SAMPLES:
		return statistics_counts_differ(was, is);
	case DIFF_BY_COUNT_:
		break;
	}
	return false;
}

static double change_of(const struct container *c, uint64_t before, uint64_t after, size_t class,
			enum diff_by by)
{
	double was = (double)before, is = (double)after;

	if (by == DIFF_SHARE) {
		was = container_share(before, c->before_totals[class]);
		is = container_share(after, c->totals[class]);
	}
	return 100 * (is - was) / was;
}

enum diff_change diff_of_row(const struct container *c, const struct row *row, size_t class,
			     enum diff_by by, double *ret_percent, bool *ret_significant)
{
	uint64_t before = row->before ? row->before[class] : 0;
	uint64_t after = row->is_gone ? 0 : row->counts[class];

	*ret_significant = is_significant(c, before, after, class, by);
	*ret_percent = before ? change_of(c, before, after, class, by) : 0;
	if (row->is_gone)
		return DIFF_GONE;
	return before || !after ? DIFF_CHANGED : DIFF_NEW;
}
