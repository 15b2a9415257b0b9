/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/internal/chains_lists.h"

#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/rows/chains.h"
#include "profile/print/internal/chains_stacks.h"
#include "profile/print/report.h"
#include "profile/select/cgroup_label.h"

#include <stdlib.h>
#include <string.h>

/* --- stacks of lines --- */

static char *fold(const struct report *r, const struct chains *c, const struct chains_line *l)
{
	struct strbuf b = STRBUF_INIT;
	size_t i;

	chains_stacks_add_app(&b, r, l->app);
	if (c->ends[l->end].mark)
		strbuf_addf(&b, ";%s", c->ends[l->end].mark);
	for (i = l->count; i-- > 0;) {
		strbuf_adds(&b, ";");
		chains_stacks_add_function(&b, r, chains_frame(c, l, i));
	}
	return strbuf_take(&b);
}

/* A stack. */
struct folded {
	char *text; /* NULL: it is one of the tree */
	struct chains_samples samples;
	bool is_left_out;
};

struct stacks {
	struct folded *list; /* sorted by text; those of the tree in its order */
	size_t count, room;
};

static void stacks_done(struct stacks *s)
{
	while (s->count)
		free(s->list[--s->count].text);
	free(s->list);
}

/* The outermost part of stacks, by task: the name of its cgroup or thread. */
static char **name_tasks(const struct report *r)
{
	const struct task_list *t = &r->chains->tasks;
	_cleanup_free_ const char **paths = xcalloc(t->count + 1, sizeof(*paths)), **names = NULL;
	char **ret = xcalloc(t->count + 1, sizeof(*ret));
	struct intern texts = INTERN_INIT;
	size_t i;

	for (i = 0; i < t->count; i++)
		paths[i] = t->list[i].cgroup;
	names = cgroup_names(r->gather->session_names, paths, t->count, &texts);
	for (i = 0; i < t->count; i++) {
		struct strbuf b = STRBUF_INIT;

		text_visible(&b, r->chains->outer == CHAINS_OUTER_CGROUP
					 ? names[i]
					 : t->list[i].comm ?: "all");
		chains_stacks_end_part(&b, 0);
		ret[i] = strbuf_take(&b);
	}
	intern_done(&texts);
	return ret;
}

/* The stacks of the lines of each task, in no order. */
static struct stacks fold_parts(const struct report *r)
{
	const struct chains *c = r->chains;
	struct folded *list = xcalloc(c->part_count + 1, sizeof(*list));
	_cleanup_free_ char **texts = xcalloc(c->line_count + 1, sizeof(*texts));
	_cleanup_free_ char **tasks = name_tasks(r);
	size_t i;

	for (i = 0; i < c->line_count; i++)
		texts[c->lines[i].id] = fold(r, c, &c->lines[i]);
	for (i = 0; i < c->part_count; i++)
		list[i] = (struct folded){ .text = xasprintf("%s;%s", tasks[c->parts[i].task],
							     texts[c->parts[i].line]),
					   .samples.now = c->parts[i].samples };
	for (i = 0; i < c->line_count; i++)
		free(texts[i]);
	for (i = 0; i < c->tasks.count; i++)
		free(tasks[i]);
	return (struct stacks){ list, c->part_count, 0 };
}

static int compare_folded(const void *a, const void *b)
{
	return strcmp(((const struct folded *)a)->text, ((const struct folded *)b)->text);
}

static struct stacks fold_each(const struct report *r)
{
	const struct chains *c = r->chains;
	struct folded *list = xcalloc(c->line_count + 1, sizeof(*list));
	size_t i;

	for (i = 0; i < c->line_count; i++)
		list[i] = (struct folded){ .text = fold(r, c, &c->lines[i]),
					   .samples = chains_line_samples(c, &c->lines[i]) };
	return (struct stacks){ list, c->line_count, 0 };
}

/* Lists the stacks of all lines, with equal ones added up. */
static struct stacks fold_lines(const struct report *r)
{
	struct stacks s = r->chains->outer ? fold_parts(r) : fold_each(r);
	struct folded *list = s.list, *end = list + s.count, *f;

	if (s.count)
		qsort(list, s.count, sizeof(*list), compare_folded);
	for (f = list, s.count = 0; f < end; f++) {
		if (s.count && !strcmp(list[s.count - 1].text, f->text)) {
			list[s.count - 1].samples.now += f->samples.now;
			list[s.count - 1].samples.before += f->samples.before;
			free(f->text);
		} else {
			list[s.count++] = *f;
		}
	}
	return s;
}

/* --- what is shown --- */

static int compare_samples(const void *a, const void *b)
{
	const struct folded *x = *(struct folded *const *)a, *y = *(struct folded *const *)b;
	uint64_t m = x->samples.now ?: x->samples.before, n = y->samples.now ?: y->samples.before;

	return m != n ? (m < n) - (m > n) : (x > y) - (x < y);
}

/* Whether any stack may be left out. */
static bool is_limited(const struct report_view *view)
{
	return view->top || view->threshold > 0;
}

/* Marks the stacks that are not shown. */
static void cut(const struct report *r, struct stacks *s, struct chains_rest *rest)
{
	_cleanup_free_ struct folded **order = NULL;
	size_t i;

	if (!is_limited(r->view))
		return;
	order = xcalloc(s->count + 1, sizeof(*order));
	for (i = 0; i < s->count; i++)
		order[i] = &s->list[i];
	if (s->count)
		qsort(order, s->count, sizeof(*order), compare_samples);
	for (i = 0; i < s->count; i++) {
		struct folded *f = order[i];

		f->is_left_out = !chains_take(r, i, f->samples, f->samples.now, &rest->left);
		rest->before += f->is_left_out ? f->samples.before : 0;
	}
}

static void list_stack(const struct strbuf *text _unused_, uint64_t samples, void *data)
{
	struct stacks *s = data;

	array_grow(&s->list, s->count + 1, &s->room);
	s->list[s->count++] = (struct folded){ .samples.now = samples };
}

/* What stacks of the tree are reported to. */
struct reporting {
	const struct report *report;
	chains_stack *each;
	void *data;
	const struct folded *next; /* of the list of all; NULL: all are shown */
};

static void report_stack(const struct strbuf *text, uint64_t samples, void *data)
{
	struct reporting *r = data;
	const struct folded *f = r->next;

	if (f)
		r->next++;
	if (!f || !f->is_left_out)
		r->each(r->report, text->text, (struct chains_samples){ .now = samples }, r->data);
}

/* Only limits need a list of all stacks first. */
static struct chains_rest fold_tree(const struct report *r, chains_stack *each, void *data)
{
	_cleanup_(stacks_done) struct stacks list = { 0 };
	_cleanup_(chains_stacks_freep) struct chains_stacks *stacks = chains_stacks_new(r);
	struct reporting reporting = { r, each, data, NULL };
	struct chains_rest rest = { 0 };

	if (is_limited(r->view)) {
		chains_stacks_each(stacks, list_stack, &list);
		cut(r, &list, &rest);
		reporting.next = list.list;
	}
	chains_stacks_each(stacks, report_stack, &reporting);
	return rest;
}

struct chains_rest chains_fold(const struct report *r, chains_stack *each, void *data)
{
	_cleanup_(stacks_done) struct stacks stacks = { 0 };
	struct chains_rest rest = { 0 };
	size_t i;

	if (r->chains->wants_tree)
		return fold_tree(r, each, data);
	stacks = fold_lines(r);
	cut(r, &stacks, &rest);
	for (i = 0; i < stacks.count; i++)
		if (!stacks.list[i].is_left_out)
			each(r, stacks.list[i].text, stacks.list[i].samples, data);
	return rest;
}
