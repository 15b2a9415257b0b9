/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/page.h"

#include "base/json.h"
#include "base/mem.h"
#include "history/history.h"
#include "profile/page/internal/page_functions.h"
#include "profile/page/internal/page_head.h"
#include "profile/page/internal/page_moments.h"
#include "profile/page/internal/page_tree.h"
#include "profile/print/report.h"
#include "profile/rows/chains.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* What is printed. */
struct page {
	const struct report *report;
	struct page_functions functions;
	struct call_tree rows; /* the tree, if there are no chains */
	struct page_tree tree;
	struct page_moments moments; /* each place, step and task once */
	struct task_list tasks;	     /* that samples are divided by; empty if they are not */
};

/* --- the tree --- */

/* The number on the page of a task of the chains. */
static uint32_t page_task(struct page *p, const struct chains *c, uint32_t task)
{
	return c->tasks.count ? task_list_add(&p->tasks, &c->tasks.list[task]) : 0;
}

/* Adds when, and by whom, the samples of the lines were taken. Those without a time are in the step
 * after the last one. */
static void add_moments(struct page *p, const struct chains *c)
{
	_cleanup_(page_moments_done) struct page_moments all = { 0 };
	size_t i;

	for (i = 0; i < c->moment_count; i++) {
		const struct chains_moment *m = &c->moments[i];

		page_moments_add(&p->moments,
				 (struct page_moment){ m->line, m->step, page_task(p, c, m->task),
						       m->samples });
	}
	for (i = 0; i < c->part_count; i++) {
		const struct chains_moment *m = &c->parts[i];

		page_moments_add(&all, (struct page_moment){ m->line, 0, page_task(p, c, m->task),
							     m->samples });
	}
	page_moments_add_rest(&p->moments, &all, c->steps.count);
}

/* Adds the tasks of the classes; returns whether they differ. */
static bool add_tasks(struct page *p, const struct classes *c)
{
	size_t i;

	for (i = 0; i < c->count; i += c->steps)
		(void)task_list_add(&p->tasks, &c->classes[i].task);
	if (task_list_separates(&p->tasks))
		return true;
	task_list_done(&p->tasks);
	return false;
}

/* Adds when, and by whom, the samples of a row were taken. */
static void add_row_moments(struct page *p, const struct classes *c, const struct row *row,
			    uint32_t node)
{
	uint32_t i;

	for (i = 0; i < c->count; i++) {
		uint32_t task = p->tasks.count ? task_list_add(&p->tasks, &c->classes[i].task) : 0;

		if (row->counts[i])
			page_moments_add(&p->moments, (struct page_moment){ node, i % c->steps,
									    task, row->counts[i] });
	}
}

/* Rows have no callers: they are below their applications. */
static void add_rows(struct page *p, const struct report *r)
{
	bool is_divided = add_tasks(p, r->classes);
	size_t i;

	for (i = 0; i < r->container->count; i++) {
		const struct row *row = &r->container->rows[i];
		uint32_t app = row->app == GATHER_NONE ? row->image : row->app;
		uint32_t node = call_tree_child(
			&p->rows, call_tree_child(&p->rows, 0, CHAINS_NODE_APP | app), (uint32_t)i);

		p->rows.nodes[node].self += container_sum(row->counts, r->container->class_count);
		if (is_divided || r->gather->steps.count)
			add_row_moments(p, r->classes, row, node);
	}
}

/* Numbers the applications and marks of the tree. */
static void number_extras(struct page *p)
{
	uint32_t i;

	for (i = 1; i < p->tree.calls->count; i++)
		(void)page_functions_number(&p->functions, p->tree.calls->nodes[i].what);
}

/* Chooses the nodes to show, and turns the nodes of the moments into their places. */
static void arrange(struct page *p, const struct page_limits *limits)
{
	size_t i;

	page_tree_arrange(&p->tree, &p->moments, limits);
	for (i = 0; i < p->moments.count; i++)
		p->moments.list[i].place = p->tree.places[p->moments.list[i].place];
	page_moments_merge(&p->moments);
}

static void page_make(const struct report *r, struct page *ret)
{
	static const struct page_limits in_file = { PAGE_NODES_MAX, PAGE_MOMENTS_MAX };
	static const struct page_limits served = { PAGE_NODES_SERVED_MAX, PAGE_MOMENTS_MAX };

	*ret = (struct page){ .report = r };
	page_functions_init(&ret->functions, r);
	call_tree_init(&ret->rows, 0);
	if (r->view->chains) {
		ret->tree.calls = &r->chains->tree;
		add_moments(ret, r->chains);
	} else {
		ret->tree.calls = &ret->rows;
		add_rows(ret, r);
	}
	number_extras(ret);
	arrange(ret, r->view->form == REPORT_DATA ? &served : &in_file);
}

static void page_done(struct page *p)
{
	page_functions_done(&p->functions);
	page_tree_done(&p->tree);
	call_tree_done(&p->rows);
	page_moments_done(&p->moments);
	task_list_done(&p->tasks);
}

/* --- columns --- */

/* The columns, each an array of little-endian numbers as wide as the largest one needs. */
enum column_id {
	COLUMN_DEPTH,	 /* of each node, in preorder */
	COLUMN_FUNCTION, /* the same */
	COLUMN_SELF,	 /* the same: samples in the node itself, of any time */
	COLUMN_AT,	 /* of each moment: node */
	COLUMN_STEP,	 /* the same: step */
	COLUMN_SAMPLES,	 /* the same: samples */
	COLUMN_TASK,	 /* the same: task, if samples are divided by task */
	COLUMN_OWN,	 /* of each function: samples in it */
	COLUMN_ALL,	 /* the same: samples with it in their chain */
	COLUMN_COUNT_
};

static const char *const column_names[] = {
	[COLUMN_DEPTH] = "depth", [COLUMN_FUNCTION] = "func", [COLUMN_SELF] = "self",
	[COLUMN_AT] = "at",	  [COLUMN_STEP] = "step",     [COLUMN_SAMPLES] = "count",
	[COLUMN_TASK] = "task",	  [COLUMN_OWN] = "func_self", [COLUMN_ALL] = "func_total",
};
static_assert(ARRAY_SIZE(column_names) == COLUMN_COUNT_, "a name for each column");

static size_t length_of(const struct page *p, enum column_id column)
{
	switch (column) {
	case COLUMN_DEPTH:
	case COLUMN_FUNCTION:
	case COLUMN_SELF:
		return p->tree.shown;
	case COLUMN_AT:
	case COLUMN_STEP:
	case COLUMN_SAMPLES:
		return p->moments.count;
	case COLUMN_TASK:
		return p->tasks.count ? p->moments.count : 0;
	case COLUMN_OWN:
	case COLUMN_ALL:
		/* Else they follow from the tree. */
		return p->tree.hidden ? p->report->container->count : 0;
	case COLUMN_COUNT_:
		break;
	}
	return 0;
}

static uint64_t row_count(const struct page *p, size_t i, bool is_total)
{
	const uint64_t *counts = p->report->container->rows[i].counts;

	if (p->report->view->chains)
		return counts[is_total ? CHAINS_INCLUSIVE : CHAINS_SELF];
	return container_sum(counts, p->report->container->class_count);
}

/* The number of the function of an item. */
static uint32_t function_of(const struct page *p, size_t i)
{
	uint32_t what = p->tree.items[i].what;

	if (i == 0)
		return PAGE_ALL;
	return what == PAGE_TREE_REST ? page_functions_rest(&p->functions)
				      : page_functions_find(&p->functions, what);
}

static uint64_t value_of(const struct page *p, enum column_id column, size_t i)
{
	const struct page_item *item = column <= COLUMN_SELF ? &p->tree.items[i] : NULL;

	switch (column) {
	case COLUMN_DEPTH:
		return item->depth;
	case COLUMN_FUNCTION:
		return function_of(p, i);
	case COLUMN_SELF:
		return item->self;
	case COLUMN_AT:
		return p->moments.list[i].place;
	case COLUMN_STEP:
		return p->moments.list[i].step;
	case COLUMN_SAMPLES:
		return p->moments.list[i].samples;
	case COLUMN_TASK:
		return p->moments.list[i].task;
	case COLUMN_OWN:
		return row_count(p, i, false);
	case COLUMN_ALL:
		return row_count(p, i, true);
	case COLUMN_COUNT_:
		break;
	}
	return 0;
}

/* Bytes of a column's numbers: 1, 2 or 4. Larger numbers saturate. */
static size_t width_of(const struct page *p, enum column_id column)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < length_of(p, column); i++)
		most = MAX(most, value_of(p, column, i));
	return most > UINT16_MAX ? 4 : most > UINT8_MAX ? 2 : 1;
}

/* Where a column of so many bytes ends, with padding. */
static size_t padded(size_t bytes)
{
	return (bytes + 3) & ~(size_t)3;
}

static void print_number(uint64_t value, size_t width, FILE *out)
{
	for (value = MIN(value, (uint64_t)UINT32_MAX); width; width--, value >>= 8)
		(void)putc_unlocked((int)(value & 0xff), out);
}

static void print_column(const struct page *p, enum column_id column, FILE *out)
{
	size_t i, width = width_of(p, column), bytes = length_of(p, column) * width;

	for (i = 0; i < length_of(p, column); i++)
		print_number(value_of(p, column, i), width, out);
	print_number(0, padded(bytes) - bytes, out);
}

/* Writes the list of the columns: name, bytes of a number, where it begins after the head, how many
 * numbers. */
static void write_columns(const struct page *p, struct json *j)
{
	size_t at = 0;
	enum column_id column;

	json_open(j, "columns", '[');
	for (column = 0; column < COLUMN_COUNT_; column++) {
		size_t count = length_of(p, column), width = width_of(p, column);

		json_open(j, NULL, '[');
		json_string(j, NULL, column_names[column]);
		json_u64(j, NULL, width);
		json_u64(j, NULL, at);
		json_u64(j, NULL, count);
		json_close(j, ']');
		at += padded(count * width);
	}
	json_close(j, ']');
}

/* The head, padded with blanks; caller frees. */
static char *make_head(const struct page *p)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = xmemstream(&text, &size);
	struct json j;

	j = JSON_INIT(memory);
	json_open(&j, NULL, '{');
	page_head_write(p->report, &j);
	page_head_tasks(&p->tasks, &j);
	if (p->tree.hidden) {
		json_open(&j, "hidden", '{');
		json_u64(&j, "below", p->tree.limit);
		json_u64(&j, "nodes", p->tree.hidden);
		json_u64(&j, "samples", p->tree.hidden_samples);
		json_close(&j, '}');
	}
	json_line(&j);
	page_functions_write(&p->functions, &j);
	json_line(&j);
	write_columns(p, &j);
	json_close(&j, '}');
	(void)fprintf(memory, "%*s", (int)((4 - ftell(memory) % 4) % 4), "");
	xmemstream_close(memory, &text);
	return text;
}

void page_data(const struct report *r, FILE *out)
{
	_cleanup_(page_done) struct page p;
	_cleanup_free_ char *head = NULL;
	enum column_id column;

	page_make(r, &p);
	head = make_head(&p);
	print_number(strlen(head), 4, out);
	(void)fputs(head, out);
	for (column = 0; column < COLUMN_COUNT_; column++)
		print_column(&p, column, out);
}
