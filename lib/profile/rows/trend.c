/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/trend.h"

#include "base/mem.h"
#include "profile/rows/container.h"
#include "profile/rows/internal/build_totals.h"
#include "profile/select/classes.h"
#include "profile/select/gather.h"

#include <stdlib.h>
#include <string.h>

/* The counts of one event by part of a step. */
struct parts {
	const struct gather *gather;
	const struct container *container;
	uint64_t *counts;	/* of the rows, or of those in one image */
	const uint64_t *totals; /* of all samples, or of those of a build */
	size_t first, count;	/* classes */
};

/* Adds up the rows in @image, or all of them. */
static void count_rows(struct parts *p, uint32_t image)
{
	const struct container *c = p->container;
	size_t i, k;

	memset(p->counts, 0, p->count * sizeof(*p->counts));
	for (i = 0; i < c->count; i++)
		for (k = 0; k < p->count && (image == GATHER_NONE || image == c->rows[i].image);
		     k++)
			p->counts[k] += c->rows[i].counts[p->first + k];
}

/* The share in the parts from @from to @end. */
static struct trend_entry entry_of(const struct parts *p, uint32_t image, size_t from, size_t end)
{
	const struct steps *steps = &p->gather->steps;
	const struct statistics_blocks blocks = { .counts = p->counts + from,
						  .totals = p->totals + from,
						  .count = end - from };
	struct trend_entry e = {
		.span = { steps_window(steps, (uint32_t)from).begin_ms,
			  steps_window(steps, (uint32_t)end - 1).end_ms },
		.image = image,
		.part = { container_sum(blocks.counts, blocks.count),
			  container_sum(blocks.totals, blocks.count),
			  statistics_share_noise(&blocks,
						 container_noise(p->container, p->first)) },
	};

	e.share = statistics_share(e.part);
	return e;
}

static void add_entry(struct trend_list *list, struct trend_entry e)
{
	if (e.part.total)
		list->entries[list->count++] = e;
}

/* Sets the line of an entry, which is of a build. */
static void set_place(const struct container *c, struct trend_entry *e)
{
	size_t i;

	for (i = 0; i < c->count; i++) {
		const struct row *row = &c->rows[i];

		if (row->image != e->image || !row->place.line)
			continue;
		e->place = &row->place;
		e->found = MAX(e->found, row->found);
	}
}

static struct trend_list list_steps(struct parts *p)
{
	size_t of_step = p->gather->step_parts, i;
	struct trend_list list = { xcalloc(p->count / of_step + 1, sizeof(*list.entries)), 0 };

	count_rows(p, GATHER_NONE);
	for (i = 0; i < p->count; i += of_step)
		add_entry(&list, entry_of(p, GATHER_NONE, i, i + of_step));
	return list;
}

static const char *path_of(const struct gather *g, const struct trend_entry *e)
{
	return e->image == GATHER_NONE ? "" : g->images[e->image].display;
}

static int compare_builds(const void *pa, const void *pb, void *data)
{
	const struct trend_entry *a = pa, *b = pb;
	int order = strcmp(path_of(data, a), path_of(data, b));

	if (order)
		return order;
	if (a->span.begin_ms != b->span.begin_ms)
		return a->span.begin_ms < b->span.begin_ms ? -1 : 1;
	return (a->image > b->image) - (a->image < b->image);
}

/* The share of a build in the parts from its first to its last sample. */
static struct trend_entry entry_of_build(const struct parts *p, const struct build_totals *builds,
					 uint32_t image)
{
	_cleanup_free_ uint64_t *totals = xcalloc(p->count + 1, sizeof(*totals));
	struct parts own = *p;
	size_t from = 0, end = p->count;

	build_totals_of(builds, image, p->first, p->totals, p->count, totals);
	own.totals = totals;
	count_rows(&own, image);
	while (from < end && !totals[from])
		from++;
	while (end > from && !totals[end - 1])
		end--;
	return from < end ? entry_of(&own, image, from, end) : (struct trend_entry){ 0 };
}

/* Lists the images of the rows. */
static struct trend_list list_builds(struct parts *p, const bool *is_used,
				     const struct build_totals *builds)
{
	size_t images = p->gather->image_count, i;
	struct trend_list list = { xcalloc(images + 1, sizeof(*list.entries)), 0 };

	for (i = 0; i < images; i++)
		if (is_used[i])
			add_entry(&list, entry_of_build(p, builds, (uint32_t)i));
	for (i = 0; i < list.count; i++)
		set_place(p->container, &list.entries[i]);
	if (list.count)
		qsort_r(list.entries, list.count, sizeof(*list.entries), compare_builds,
			(void *)p->gather);
	return list;
}

/* Compares each entry with the one before, if that had samples. */
static void judge(const struct gather *g, struct trend_list *list)
{
	_cleanup_free_ struct diff_pair *pairs = xcalloc(list->count + 1, sizeof(*pairs));
	size_t i, n = 0;

	for (i = 1; i < list->count; i++) {
		struct trend_entry *was = &list->entries[i - 1], *is = &list->entries[i];

		is->is_compared = was->part.count && !strcmp(path_of(g, was), path_of(g, is));
		if (is->is_compared)
			pairs[n++] = (struct diff_pair){ .was = was->part, .is = is->part };
	}
	diff_judge_pairs(pairs, n, DIFF_SHARE);
	for (i = n = 0; i < list->count; i++) {
		struct trend_entry *e = &list->entries[i];

		if (!e->is_compared)
			continue;
		e->percent = diff_percent(&pairs[n], DIFF_SHARE);
		e->verdict = pairs[n++].verdict;
	}
}

/* Whether each image has rows; the caller frees. */
static bool *used_images(const struct gather *g, const struct container *c)
{
	bool *is_used = xcalloc(g->image_count + 1, sizeof(*is_used));
	size_t i;

	for (i = 0; i < c->count; i++)
		is_used[c->rows[i].image] = true;
	return is_used;
}

void trend_make(const struct gather *g, const struct classes *classes, const struct container *c,
		struct trend *ret)
{
	struct trend t = { .step_ms = g->steps.length_ms * g->step_parts };
	struct parts p = { .gather = g, .container = c, .count = classes->steps };
	_cleanup_free_ uint64_t *counts = xcalloc(classes->steps, sizeof(*counts));
	_cleanup_free_ bool *is_used = used_images(g, c);
	struct build_totals builds;

	p.counts = counts;
	build_totals_make(g, classes, is_used, &builds);
	t.tables = xcalloc(classes->count / classes->steps, sizeof(*t.tables));
	for (; p.first < classes->count; p.first += classes->steps) {
		struct trend_table *table = &t.tables[t.table_count++];

		p.totals = c->totals + p.first;
		table->class = &classes->classes[p.first];
		table->steps = list_steps(&p);
		table->builds = list_builds(&p, is_used, &builds);
		judge(g, &table->steps);
		judge(g, &table->builds);
	}
	build_totals_done(&builds);
	*ret = t;
}

void trend_done(struct trend *t)
{
	size_t i;

	for (i = 0; i < t->table_count; i++) {
		free(t->tables[i].steps.entries);
		free(t->tables[i].builds.entries);
	}
	free(t->tables);
	*t = (struct trend){ 0 };
}
