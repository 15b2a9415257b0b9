/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/callgraph.h"

#include "base/mem.h"
#include "base/radix.h"
#include "profile/rows/container.h"
#include "profile/select/gather.h"

/* Replaces ids of rows by their numbers, and counts distinct arcs. */
static size_t renumber(struct callgraph *graph, const struct container *c)
{
	_cleanup_free_ uint64_t *number = xcalloc(c->count + 1, sizeof(*number));
	struct samples *raw = &graph->raw;
	size_t i, n = 0;

	for (i = 0; i < c->count; i++)
		number[c->rows[i].id] = i;
	for (i = 0; i < raw->count; i++) {
		uint64_t *key = &raw->samples[i].offset;

		*key = number[*key >> 32] << 32 | number[*key & UINT32_MAX];
	}
	samples_sort(raw);
	for (i = 0; i < raw->count; i++)
		n += i == 0 || raw->samples[i].offset != raw->samples[i - 1].offset;
	return n;
}

/* Merges the sorted raw arcs, by caller and callee. */
static void merge_arcs(struct callgraph *graph, size_t count)
{
	struct arc *arc = xcalloc(count + 1, sizeof(*arc));
	uint64_t *counts = xcalloc(count + 1, graph->class_count * sizeof(*counts));
	size_t i;

	graph->arcs = arc;
	graph->counts = counts;
	graph->count = count;
	for (i = 0; i < graph->raw.count; i++) {
		const struct sample *s = &graph->raw.samples[i];

		if (i && s->offset != s[-1].offset) {
			arc++;
			counts += graph->class_count;
		}
		*arc = (struct arc){ (uint32_t)(s->offset >> 32), (uint32_t)s->offset, counts };
		counts[s->class] += s->count;
	}
}

/* The arcs by falling count; those with equal counts stay as they are. Caller frees. */
static struct radix_entry *order_arcs(const struct callgraph *graph)
{
	struct radix_entry *order = xcalloc(graph->count + 1, sizeof(*order));
	_cleanup_free_ struct radix_entry *spare = xcalloc(graph->count + 1, sizeof(*spare));
	size_t i;

	for (i = 0; i < graph->count; i++)
		order[i] = (struct radix_entry){
			UINT64_MAX - container_sum(graph->arcs[i].counts, graph->class_count), i
		};
	radix_sort(order, spare, graph->count);
	return order;
}

static uint32_t caller_of(const struct arc *arc)
{
	return arc->caller;
}

static uint32_t callee_of(const struct arc *arc)
{
	return arc->callee;
}

/* Distributes the arcs to the rows at one of their ends, in the given order. */
static void make_list(const struct callgraph *graph, const struct radix_entry *order, size_t rows,
		      uint32_t (*row_of_arc)(const struct arc *arc), struct arc_list *ret)
{
	uint32_t *next; /* index of the next arc of row i - 1; in the end, the first of row i */
	size_t i;

	ret->first = xcalloc(rows + 2, sizeof(*ret->first));
	ret->arcs = xcalloc(graph->count + 1, sizeof(*ret->arcs));
	next = ret->first + 1;
	for (i = 0; i < graph->count; i++)
		next[row_of_arc(&graph->arcs[i]) + 1]++;
	for (i = 1; i <= rows; i++)
		next[i] += next[i - 1];
	for (i = 0; i < graph->count; i++) {
		const struct arc *arc = &graph->arcs[order[i].value];

		ret->arcs[next[row_of_arc(arc)]++] = *arc;
	}
}

void callgraph_arrange(struct callgraph *graph, const struct container *c)
{
	_cleanup_free_ struct radix_entry *order = NULL;

	merge_arcs(graph, renumber(graph, c));
	samples_done(&graph->raw);
	order = order_arcs(graph);
	make_list(graph, order, c->count, caller_of, &graph->callees);
	make_list(graph, order, c->count, callee_of, &graph->callers);
	free(graph->arcs);
	graph->arcs = NULL;
}

void callgraph_done(struct callgraph *graph)
{
	free(graph->arcs);
	free(graph->callees.arcs);
	free(graph->callees.first);
	free(graph->callers.arcs);
	free(graph->callers.first);
	free(graph->counts);
	free(graph->is_shown);
	samples_done(&graph->raw);
	*graph = (struct callgraph){ 0 };
}

void callgraph_sum(const struct callgraph *graph, const struct arc_list *list, size_t row,
		   uint64_t *sums)
{
	size_t i, j;

	for (i = list->first[row]; i < list->first[row + 1]; i++)
		for (j = 0; j < graph->class_count; j++)
			sums[j] += list->arcs[i].counts[j];
}

static bool sum_reaches(const struct callgraph *graph, const struct arc_list *list,
			const struct container *c, size_t row, double percent)
{
	_cleanup_free_ uint64_t *sums = xcalloc(graph->class_count, sizeof(*sums));

	callgraph_sum(graph, list, row, sums);
	return container_counts_reach(c, sums, c->totals, percent);
}

static bool row_reaches(const struct callgraph *graph, const struct container *c, size_t row,
			double percent)
{
	return percent <= 0 || container_reaches(c, &c->rows[row], percent) ||
	       sum_reaches(graph, &graph->callers, c, row, percent) ||
	       sum_reaches(graph, &graph->callees, c, row, percent);
}

static void leave_out(const struct container *c, size_t row, uint64_t *counts, size_t *rows)
{
	size_t i;

	for (i = 0; i < c->class_count; i++)
		counts[i] += c->rows[row].counts[i];
	++*rows;
}

void callgraph_cut(struct callgraph *graph, const struct gather *g, struct container *c,
		   double percent, uint64_t top)
{
	size_t i, shown = 0;

	graph->is_shown = xcalloc(c->count + 1, sizeof(*graph->is_shown));
	for (i = 0; i < c->count; i++) {
		if (c->rows[i].is_unchosen || !g->images[c->rows[i].image].is_wanted)
			continue;
		if (!row_reaches(graph, c, i, percent))
			leave_out(c, i, c->hidden, &c->hidden_rows);
		else if (top && shown == top)
			leave_out(c, i, c->beyond, &c->beyond_rows);
		else
			graph->is_shown[i] = ++shown;
	}
}
