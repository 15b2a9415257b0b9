/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/page.h"

#include "base/json.h"
#include "base/macro.h"
#include "base/mem.h"
#include "history/history.h"
#include "profile/page/internal/page_columns.h"
#include "profile/page/internal/page_files.h"
#include "profile/page/internal/page_functions.h"
#include "profile/page/internal/page_head.h"
#include "profile/page/internal/page_moments.h"
#include "profile/page/internal/page_nodes.h"
#include "profile/page/internal/page_tasks.h"
#include "profile/page/internal/page_times.h"
#include "profile/page/internal/page_tree.h"
#include "profile/print/report.h"
#include "profile/rows/chains.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What is printed. */
struct page {
	const struct report *report;
	struct page_times times;
	struct page_functions functions;
	struct page_files files;
	struct call_tree rows; /* the tree, if there are no chains */
	struct page_tree tree;
	bool is_repeated;	      /* it may be printed again */
	struct page_moments gathered; /* each node of the tree, step and task once */
	struct page_moments moments;  /* each item of the tree, step and task once */
	struct page_tasks tasks;      /* that samples are divided by; empty if they are not */
	struct page_columns columns;
	uint64_t below; /* functions that are left out have fewer samples */
	/* What is the same each time that it is printed; NULL until then. */
	uint64_t *by_row;  /* the samples with each row in their chain */
	char *about;	   /* the head, without what is chosen */
	struct json after; /* how it is continued */
};

/* The number in a page: large ones saturate. */
static uint32_t saturated(uint64_t value)
{
	return (uint32_t)MIN(value, (uint64_t)UINT32_MAX);
}

/* --- the tree --- */

static void take_moment(const struct chains_moment *m, void *data)
{
	struct page *p = data;

	page_tree_add(&p->tree, &p->gathered,
		      (struct page_moment){ m->line, m->step, page_tasks_number(&p->tasks, m->task),
					    saturated(m->samples) });
}

/* Adds when, and by whom, the samples of the chains were taken. Those without a time are in the
 * step after the last one. */
static void add_moments(struct page *p)
{
	_cleanup_(page_moments_done) struct page_moments all = { 0 };
	const struct chains *c = p->report->chains;
	const uint32_t *shown_by = p->tree.shown_by;
	_cleanup_free_ uint32_t *numbers = xmemdup(shown_by, c->tree.count * sizeof(*numbers));
	size_t i;

	if (c->steps.count)
		chains_each_moment(c, numbers, 2 * (uint32_t)c->tree.count, take_moment, p);
	for (i = 0; i < c->part_count; i++) {
		const struct chains_moment *m = &c->parts[i];

		page_moments_add(&all, (struct page_moment){ shown_by[m->line], 0,
							     page_tasks_number(&p->tasks, m->task),
							     saturated(m->samples) });
	}
	page_moments_add_rest(&p->gathered, &all, c->steps.count);
}

/* Adds the tasks of the classes; returns whether they differ. */
static bool add_tasks(struct page *p, const struct classes *c)
{
	size_t i;

	for (i = 0; i < c->count; i += c->steps)
		(void)task_list_add(&p->tasks.list, &c->classes[i].task);
	if (task_list_separates(&p->tasks.list))
		return true;
	page_tasks_done(&p->tasks);
	return false;
}

/* Adds when, and by whom, the samples of a row were taken. */
static void add_row_moments(struct page *p, const struct classes *c, const struct row *row,
			    uint32_t node)
{
	uint32_t i;

	for (i = 0; i < c->count; i++) {
		uint32_t task = p->tasks.list.count
					? task_list_add(&p->tasks.list, &c->classes[i].task)
					: 0;

		if (row->counts[i])
			page_tree_add(&p->tree, &p->gathered,
				      (struct page_moment){ p->tree.shown_by[node], i % c->steps,
							    task, saturated(row->counts[i]) });
	}
}

/* The node of row number @i. Rows have no callers: they are below their applications. */
static uint32_t row_node(struct page *p, uint32_t i)
{
	const struct row *row = &p->report->container->rows[i];
	uint32_t app = row->app == GATHER_NONE ? row->image : row->app;

	return call_tree_child(&p->rows, call_tree_child(&p->rows, 0, CHAINS_NODE_APP | app), i);
}

static void add_rows(struct page *p)
{
	const struct container *c = p->report->container;
	uint32_t i;

	for (i = 0; i < c->count; i++) {
		uint32_t node = row_node(p, i);

		p->rows.nodes[node].self += container_sum(c->rows[i].counts, c->class_count);
	}
}

static void add_rows_moments(struct page *p)
{
	const struct report *r = p->report;
	bool is_divided = add_tasks(p, r->classes);
	uint32_t i;

	for (i = 0; (is_divided || r->gather->steps.count) && i < r->container->count; i++)
		add_row_moments(p, r->classes, &r->container->rows[i], row_node(p, i));
}

static void note_programs(struct page *p)
{
	uint32_t i;

	for (i = 1; i < p->tree.calls->count; i++)
		page_functions_note(&p->functions, p->tree.calls->nodes[i].what);
}

static struct page *begin(const struct report *r, size_t nodes, bool is_repeated)
{
	struct page *p = xcalloc(1, sizeof(*p));

	p->report = r;
	p->is_repeated = is_repeated;
	page_times_collect(r, &p->times);
	page_functions_init(&p->functions, r, is_repeated); /* a file is to be small */
	call_tree_init(&p->rows, 0);
	p->tree = (struct page_tree){
		.calls = r->view->chains ? &r->chains->tree : &p->rows,
		.limits = { nodes, PAGE_MOMENTS_MAX },
	};
	if (!r->view->chains)
		add_rows(p);
	note_programs(p);
	page_tree_begin(&p->tree);
	if (r->view->chains)
		page_tasks_begin(&p->tasks, r->chains,
				 is_repeated ? (size_t)PAGE_TASKS_MAX : SIZE_MAX);
	if (r->view->chains)
		add_moments(p);
	else
		add_rows_moments(p);
	return p;
}

struct page *page_begin(const struct report *r, size_t nodes)
{
	return begin(r, nodes, true);
}

void page_end(struct page *p)
{
	page_times_done(&p->times);
	page_functions_done(&p->functions);
	page_files_done(&p->files);
	page_tree_done(&p->tree);
	call_tree_done(&p->rows);
	page_moments_done(&p->gathered);
	page_moments_done(&p->moments);
	page_tasks_done(&p->tasks);
	page_columns_done(&p->columns);
	free(p->by_row);
	free(p->about);
	free(p);
}

/* Chooses the nodes, puts them in order, and finds the moments of each. Returns whether they are
 * others than those that were printed last. */
static bool arrange(struct page *p, size_t nodes)
{
	const struct page_moments *g = &p->gathered;
	const uint64_t limit = p->tree.limit;

	page_tree_narrow(&p->tree, &p->gathered, nodes);
	if (p->tree.items && p->tree.limit == limit)
		return false;
	p->moments = *g;
	if (p->is_repeated)
		p->moments = (struct page_moments){
			.list = g->count ? xmemdup(g->list, g->count * sizeof(*g->list)) : NULL,
			.count = g->count,
			.room = g->count,
		};
	else
		p->gathered = (struct page_moments){ 0 };
	page_tree_arrange(&p->tree, &p->moments);
	return true;
}

/* --- functions --- */

/* Numbers the applications and marks that are shown. */
static void number_extras(struct page *p)
{
	size_t i;

	page_functions_forget(&p->functions);
	for (i = 1; i < p->tree.shown; i++)
		if (p->tree.items[i].what != PAGE_TREE_REST)
			(void)page_functions_number(&p->functions, p->tree.items[i].what);
}

/* The samples in each function itself, by its place on the page or, without places, by row; caller
 * frees. */
static uint64_t *own_samples(const struct page *p, const uint32_t *places)
{
	const struct container *c = p->report->container;
	uint64_t *own = xcalloc(c->count + 1, sizeof(*own));
	size_t i;

	for (i = 0; i < c->count; i++) {
		const uint64_t *counts = c->rows[i].counts;

		own[places ? places[i] : i] += p->report->view->chains
						       ? counts[CHAINS_SELF]
						       : container_sum(counts, c->class_count);
	}
	return own;
}

/* The same of the samples with it in their chain. */
static uint64_t *all_samples(const struct page *p, const uint32_t *places)
{
	return p->report->view->chains ? chains_tree_totals(p->report->chains, places)
				       : own_samples(p, places);
}

/* A row with what decides on whether it is left out. */
struct ranked {
	uint64_t samples;
	uint32_t row;
};

static int by_samples(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* Leaves out all functions but those in the tree, and @most others that have the most samples. */
static void choose_functions(struct page *p, size_t most)
{
	const size_t count = p->report->container->count;
	_cleanup_free_ bool *kept = xcalloc(count + 1, sizeof(*kept));
	_cleanup_free_ struct ranked *list = NULL;
	size_t i, n = 0;

	if (most >= count)
		return;
	if (!p->by_row)
		p->by_row = all_samples(p, NULL);
	list = xcalloc(count + 1, sizeof(*list));
	for (i = 1; i < p->tree.shown; i++)
		if (p->tree.items[i].what < count)
			kept[p->tree.items[i].what] = true;
	for (i = 0; i < count; i++)
		if (!kept[i])
			list[n++] = (struct ranked){ p->by_row[i], (uint32_t)i };
	qsort(list, n, sizeof(*list), by_samples);
	for (i = 0; i < n && i < most; i++)
		kept[list[i].row] = true;
	p->below = i < n ? list[i].samples + 1 : 0;
	page_functions_leave_out(&p->functions, kept);
}

/* --- columns --- */

/* The number of the function of an item. */
static uint32_t function_of(const struct page *p, size_t i)
{
	uint32_t what = p->tree.items[i].what;

	if (i == 0)
		return PAGE_ALL;
	return what == PAGE_TREE_REST ? page_functions_rest(&p->functions)
				      : page_functions_find(&p->functions, what);
}

/* Of each node, in preorder: its function. */
static void add_node_functions(struct page *p)
{
	uint32_t *numbers = page_columns_begin(&p->columns, "func", p->tree.shown);
	size_t i;

	for (i = 0; i < p->tree.shown; i++)
		numbers[i] = function_of(p, i);
	page_columns_end(&p->columns);
}

static void add_samples(struct page *p, const char *name, const uint64_t *samples)
{
	size_t count = samples ? page_functions_listed(&p->functions) : 0, i;
	uint32_t *numbers = page_columns_begin(&p->columns, name, count);

	for (i = 0; i < count; i++)
		numbers[i] = saturated(samples[i]);
	page_columns_end(&p->columns);
}

/* Of each function, unless they follow from the tree: the samples in it, and those with it in their
 * chain. */
static void add_functions(struct page *p)
{
	const uint32_t *places = p->functions.numbers;
	_cleanup_free_ uint64_t *own = p->tree.hidden ? own_samples(p, places) : NULL;
	_cleanup_free_ uint64_t *all = p->tree.hidden ? all_samples(p, places) : NULL;

	add_samples(p, "func_self", own);
	add_samples(p, "func_total", all);
}

/* Of each function: its address plus one, 0 if it has no symbol, as columns of its bytes. The upper
 * ones are nearly all equal. */
static void add_addresses(struct page *p)
{
	static const char *const names[] = { "address0", "address1", "address2", "address3",
					     "address4", "address5", "address6", "address7" };
	size_t count = p->functions.row_count, i, k;

	for (k = 0; k < ARRAY_SIZE(names); k++) {
		uint32_t *numbers = page_columns_begin(&p->columns, names[k], count);

		for (i = 0; i < count; i++) {
			const struct row *row = page_functions_row(&p->functions, i);

			if (row->kind == ROW_SYMBOL)
				numbers[i] = (row->address + 1) >> (CHAR_BIT * k) & UINT8_MAX;
		}
		page_columns_end(&p->columns);
	}
}

/* Of each function, in a file: the number of the source file that it begins in; 0: it is not
 * known. A server is asked for that, because it takes a while to find. */
static void add_files(struct page *p)
{
	size_t count = p->is_repeated ? p->functions.row_count : 0, i;
	uint32_t *numbers = page_columns_begin(&p->columns, "file", count);

	page_files_done(&p->files);
	for (i = 0; i < count; i++)
		numbers[i] = page_files_number(&p->files,
					       page_functions_row(&p->functions, i)->place.file);
	page_columns_end(&p->columns);
}

/* Writes what does not depend on what is chosen, which is made once. */
static void write_about(struct page *p, struct json *j)
{
	FILE *out = j->out;
	size_t size = 0;

	if (!p->about) {
		p->after = *j;
		p->after.out = xmemstream(&p->about, &size);
		page_head_write(p->report, &p->times, &p->after);
		xmemstream_close(p->after.out, &p->about);
	}
	(void)fputs(p->about, out);
	*j = p->after;
	j->out = out;
}

/* The head, padded with blanks; caller frees. */
static char *make_head(struct page *p)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = xmemstream(&text, &size);
	struct json j;

	j = JSON_INIT(memory);
	json_open(&j, NULL, '{');
	write_about(p, &j);
	page_head_tasks(p->report, &p->tasks.list, &j);
	if (p->tasks.others)
		json_u64(&j, "other_tasks", p->tasks.others);
	if (p->tree.hidden) {
		json_open(&j, "hidden", '{');
		json_u64(&j, "below", p->tree.limit);
		json_u64(&j, "nodes", p->tree.hidden);
		json_u64(&j, "samples", p->tree.hidden_samples);
		json_close(&j, '}');
	}
	page_functions_write_others(&p->functions, p->below, &j);
	json_line(&j);
	page_functions_write(&p->functions, &j);
	json_line(&j);
	if (p->is_repeated) {
		page_files_write(&p->files, &j);
		json_line(&j);
	}
	page_columns_list(&p->columns, &j);
	json_close(&j, '}');
	(void)fprintf(memory, "%*s", (int)((4 - ftell(memory) % 4) % 4), "");
	xmemstream_close(memory, &text);
	return text;
}

void page_print(struct page *p, struct page_most most, FILE *out)
{
	_cleanup_free_ char *head = NULL;
	const bool has_others = arrange(p, most.nodes);

	if (has_others)
		number_extras(p);
	choose_functions(p, most.functions);
	if (has_others)
		page_nodes_depths(&p->columns, &p->tree);
	add_node_functions(p);
	if (has_others) {
		page_nodes_untimed(&p->columns, &p->tree, &p->moments);
		page_nodes_moments(&p->columns, &p->moments, p->tasks.list.count);
	}
	if (!p->is_repeated)
		page_tree_done(&p->tree);
	page_moments_done(&p->moments);
	add_functions(p);
	add_addresses(p);
	add_files(p);
	head = make_head(p);
	page_columns_number((uint32_t)strlen(head), 4, out);
	(void)fputs(head, out);
	page_columns_print(&p->columns, out);
}

size_t page_nodes(const struct page *p)
{
	return p->tree.shown;
}

bool page_is_crowded(const struct page *p)
{
	return p->tree.is_crowded;
}

void page_data(const struct report *r, FILE *out)
{
	struct page *p = begin(r, PAGE_NODES_SERVED_MAX, false);

	page_print(p, (struct page_most){ PAGE_NODES_SERVED_MAX, SIZE_MAX }, out);
	page_end(p);
}
