/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/timeline.h"

#include "base/mem.h"
#include "history/history.h"
#include "profile/rows/container.h"
#include "profile/select/classes.h"
#include "profile/select/gather.h"

#include <errno.h>
#include <string.h>

static const char *const names[] = {
#define X(by, name) [TIMELINE_##by] = name,
	TIMELINE_BYS(X)
#undef X
};
static_assert(ARRAY_SIZE(names) == TIMELINE_COUNT_, "a name for each kind");

int timeline_by_parse(const char *text, struct error *err)
{
	size_t i;

	if (!text)
		return TIMELINE_IMAGE;
	for (i = TIMELINE_NONE + 1; i < TIMELINE_COUNT_; i++)
		if (!strcmp(text, names[i]))
			return (int)i;
	return error_set(err, -EINVAL,
			 "--timeline: '%s' is not one of image, symbol, application, host, "
			 "cgroup, comm, event",
			 text);
}

const char *timeline_by_name(enum timeline_by by)
{
	return names[by];
}

unsigned int timeline_merge(enum timeline_by by)
{
	return CLASSES_MANY_AXES | CLASSES_MERGE_CPU | CLASSES_MERGE_TID | CLASSES_MERGE_TGID |
	       (by == TIMELINE_HOST ? CLASSES_BY_HOST : 0) |
	       (by == TIMELINE_CGROUP ? 0 : CLASSES_MERGE_CGROUP) |
	       (by == TIMELINE_COMM ? 0 : CLASSES_MERGE_COMM) |
	       (by == TIMELINE_IMAGE ? CLASSES_MERGE_LIB : 0);
}

/* Whether the rows are the classes of one event. */
static bool is_by_class(enum timeline_by by)
{
	return by == TIMELINE_HOST || by == TIMELINE_CGROUP || by == TIMELINE_COMM;
}

const char *timeline_class_name(enum timeline_by by, const struct class *class)
{
	switch (by) {
	case TIMELINE_HOST:
		return class->host;
	case TIMELINE_CGROUP:
		return class->task.cgroup;
	case TIMELINE_COMM:
		return class->task.comm;
	default:
		return NULL;
	}
}

bool timeline_has_things(enum timeline_by by, const struct classes *classes)
{
	size_t i;

	if (!is_by_class(by))
		return true;
	for (i = 0; i < classes->count; i++)
		if (timeline_class_name(by, &classes->classes[i]))
			return true;
	return false;
}

/* Adds a row, if it has samples. */
static void add_row(struct timeline_table *t, const struct row *row, const struct class *class,
		    const uint64_t *counts, uint32_t steps)
{
	uint64_t sum = container_sum(counts, steps);

	if (sum)
		t->rows[t->count++] = (struct timeline_row){ row, class, counts, sum };
}

/* The rows of the container, with their counts of the class number @first and those of its other
 * steps. */
static void fill_from_rows(struct timeline_table *t, const struct classes *classes,
			   const struct container *c, size_t first)
{
	size_t i;

	t->rows = xcalloc(c->count + 1, sizeof(*t->rows));
	t->class = &classes->classes[first];
	t->totals = xmemdup(c->totals + first, classes->steps * sizeof(*t->totals));
	for (i = 0; i < c->count; i++)
		add_row(t, &c->rows[i], t->class, c->rows[i].counts + first, classes->steps);
}

/* A row for each class from @first to @end. */
static void fill_from_classes(struct timeline_table *t, const struct classes *classes,
			      const struct container *c, size_t first, size_t end)
{
	size_t i;

	t->rows = xcalloc((end - first) / classes->steps + 1, sizeof(*t->rows));
	for (i = first; i < end; i += classes->steps)
		add_row(t, NULL, &classes->classes[i], c->totals + i, classes->steps);
}

static int compare_sums(const void *pa, const void *pb)
{
	const struct timeline_row *a = pa, *b = pb;

	if (a->sum != b->sum)
		return a->sum < b->sum ? 1 : -1;
	if (a->class != b->class)
		return a->class > b->class ? 1 : -1;
	return (a->row > b->row) - (a->row < b->row);
}

void timeline_sort(struct timeline_table *t)
{
	if (t->class && t->count)
		qsort(t->rows, t->count, sizeof(*t->rows), compare_sums);
}

/* A table of the hosts, cgroups, or names of threads, of one event, whose classes are those from
 * @first to @end. */
static void fill_by_class(struct timeline_table *t, const struct classes *classes,
			  const struct container *c, size_t first, size_t end)
{
	size_t i;

	fill_from_classes(t, classes, c, first, end);
	t->class = &classes->classes[first];
	t->totals = xcalloc(classes->steps, sizeof(*t->totals));
	for (i = first; i < end; i++)
		t->totals[(i - first) % classes->steps] += c->totals[i];
	timeline_sort(t);
}

/* The end of the classes that make one table, from @first on. */
static size_t end_of_table(enum timeline_by by, const struct classes *classes, size_t first)
{
	size_t end = first + classes->steps;

	while (is_by_class(by) && end < classes->count &&
	       class_same_event(&classes->classes[first], &classes->classes[end]))
		end += classes->steps;
	return by == TIMELINE_EVENT ? classes->count : end;
}

static void add_cover(struct timeline *t, const struct history *h)
{
	uint32_t i;

	for (i = 0; i < t->steps.count; i++) {
		const struct history_cover *c = history_covers_step(h, i);
		struct timeline_step *step = &t->cover[i];

		step->covered_ms += c->covered_ms;
		step->is_recorded |= c->touching > 0;
		step->is_counted |= c->slices > 0;
		step->samples += c->samples;
		step->taken += c->taken;
		step->lost += c->lost;
	}
}

void timeline_make(enum timeline_by by, const struct gather *g, const struct classes *classes,
		   const struct container *c, struct timeline *ret)
{
	struct timeline t = { .by = by, .steps = g->steps };
	size_t first, end, i;

	t.tables = xcalloc(classes->count, sizeof(*t.tables));
	t.cover = xcalloc(t.steps.count, sizeof(*t.cover));
	for (i = 0; i < g->session_count; i++)
		add_cover(&t, g->sessions[i].history);
	for (first = 0; first < classes->count; first = end) {
		struct timeline_table *table = &t.tables[t.table_count++];

		end = end_of_table(by, classes, first);
		if (is_by_class(by))
			fill_by_class(table, classes, c, first, end);
		else if (by == TIMELINE_EVENT)
			fill_from_classes(table, classes, c, first, end);
		else
			fill_from_rows(table, classes, c, first);
		table->total = table->totals ? container_sum(table->totals, classes->steps) : 0;
	}
	*ret = t;
}

static void leave_out(struct timeline_rest *rest, const struct timeline_row *row)
{
	rest->rows++;
	rest->sum += row->sum;
}

void timeline_cut(struct timeline_table *t, double percent, uint64_t top)
{
	size_t i, n = 0;

	for (i = 0; i < t->count; i++) {
		const struct timeline_row row = t->rows[i];

		if (t->totals && container_share(row.sum, t->total) < percent)
			leave_out(&t->hidden, &row);
		else if (top && n == top)
			leave_out(&t->beyond, &row);
		else
			t->rows[n++] = row;
	}
	t->count = n;
}

void timeline_done(struct timeline *t)
{
	size_t i;

	for (i = 0; i < t->table_count; i++) {
		free(t->tables[i].rows);
		free(t->tables[i].totals);
	}
	free(t->tables);
	free(t->cover);
	*t = (struct timeline){ 0 };
}
