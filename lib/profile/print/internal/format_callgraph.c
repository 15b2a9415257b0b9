/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/report.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/rows/callgraph.h"
#include "profile/print/internal/column.h"
#include "profile/print/internal/table.h"

#include <string.h>

enum { FLUSH_BYTES = 1 << 16 };

static const char indent[] = "  ";
static const char rule[] =
	"-------------------------------------------------------------------------------\n";

struct printer {
	const struct report *report;
	const struct callgraph *graph;
	struct table table;
	struct strbuf line, cell;
	struct arena arena;
	const char **names; /* by row: its cells that are the same in every block */
	/* One per class: */
	uint64_t *sums;	    /* of the block's rows above the function, then of those below */
	uint64_t *in_block; /* the part of these so far */
	uint64_t *running;  /* of the functions so far */
	size_t hidden_arcs; /* below the threshold in their blocks */
	FILE *out;
};

/* The parts of a row that a line shows. */
struct line {
	size_t row;
	const uint64_t *counts, *totals; /* one per class */
	uint64_t *running;
	bool in_block; /* a caller or callee */
	bool is_self;
};

static struct cell cell_of(const struct printer *p, const struct table_place *place,
			   const struct line *l)
{
	return (struct cell){ .report = p->report,
			      .row = &p->report->container->rows[l->row],
			      .class = place->class,
			      .counts = l->counts,
			      .totals = l->totals,
			      .sum = l->running[place->class],
			      .room = table_room(&p->table, place),
			      .width = place->width ? place->width - 1 : 0 };
}

/* Appends a cell and the blanks after it. */
static void write_cell(struct printer *p, const struct table_place *place, const struct line *l)
{
	struct cell cell = cell_of(p, place, l);

	strbuf_clear(&p->cell);
	place->column->write(&cell, &p->cell);
	table_add_cell(&p->line, strbuf_text(&p->cell), place->width);
}

/* The same for counts and percentages, which are all ASCII. */
static void write_number(struct printer *p, const struct table_place *place, const struct line *l)
{
	static const char blanks[] = "                                ";
	struct cell cell = cell_of(p, place, l);
	size_t start = p->line.length, used;

	place->column->write(&cell, &p->line);
	used = p->line.length - start;
	if (place->width)
		strbuf_add(&p->line, blanks,
			   used < place->width ? MIN(place->width - used, sizeof(blanks) - 1) : 1);
}

/* The cells of a row that are the same in each block, written once: for each run of neighbouring
 * columns its length, as a size_t, and its text. */
static const char *constant_cells(struct printer *p, const struct line *l)
{
	size_t start = p->line.length, run = start, length, i;

	if (p->names[l->row])
		return p->names[l->row];
	for (i = 0; i < p->table.count; i++) {
		const struct table_place *place = &p->table.places[i];

		if (place->column->per_class)
			continue;
		if (i == 0 || place[-1].column->per_class) {
			run = p->line.length;
			strbuf_add(&p->line, &length, sizeof(length));
		}
		write_cell(p, place, l);
		length = p->line.length - run - sizeof(length);
		memcpy(p->line.text + run, &length, sizeof(length));
	}
	p->names[l->row] = arena_strndup(&p->arena, p->line.text + start, p->line.length - start);
	strbuf_cut(&p->line, start);
	return p->names[l->row];
}

static void print_line(struct printer *p, const struct line *l)
{
	const char *constant = constant_cells(p, l);
	size_t i, length;

	for (i = 0; i < p->report->container->class_count; i++)
		l->running[i] += l->counts[i];
	if (l->in_block)
		strbuf_add(&p->line, indent, sizeof(indent) - 1);
	for (i = 0; i < p->table.count; i++) {
		const struct table_place *place = &p->table.places[i];

		if (place->column->per_class) {
			write_number(p, place, l);
		} else if (i == 0 || place[-1].column->per_class) {
			memcpy(&length, constant, sizeof(length));
			strbuf_add(&p->line, constant + sizeof(length), length);
			constant += sizeof(length) + length;
		}
	}
	strbuf_adds(&p->line, l->is_self ? " [self]\n" : "\n");
	if (p->line.length >= FLUSH_BYTES) {
		(void)fwrite(p->line.text, 1, p->line.length, p->out);
		strbuf_clear(&p->line);
	}
}

static void print_arc(struct printer *p, const struct arc *arc, size_t row, const uint64_t *totals)
{
	const struct report *r = p->report;

	if (!container_counts_reach(r->container, arc->counts, totals, r->view->threshold)) {
		p->hidden_arcs++;
		return;
	}
	print_line(p, &(struct line){ .row = row,
				      .counts = arc->counts,
				      .totals = r->view->global_percent ? r->container->totals
									: totals,
				      .running = p->in_block,
				      .in_block = true });
}

/* Prints the callers; those with the most arcs come last, next to the function. */
static void print_callers(struct printer *p, size_t row)
{
	const struct arc_list *list = &p->graph->callers;
	size_t bytes = p->graph->class_count * sizeof(*p->sums), i;

	memset(p->sums, 0, bytes);
	memset(p->in_block, 0, bytes);
	callgraph_sum(p->graph, list, row, p->sums);
	for (i = list->first[row + 1]; i > list->first[row]; i--)
		print_arc(p, &list->arcs[i - 1], list->arcs[i - 1].caller, p->sums);
}

static void print_self(struct printer *p, size_t row)
{
	const struct container *c = p->report->container;

	print_line(p,
		   &(struct line){ .row = row,
				   .counts = c->rows[row].counts,
				   .totals = p->report->view->global_percent ? c->totals : p->sums,
				   .running = p->in_block,
				   .in_block = true,
				   .is_self = true });
}

/* Prints the callees, those with the most arcs first, with the function's own samples among
 * them. */
static void print_callees(struct printer *p, size_t row)
{
	const struct arc_list *list = &p->graph->callees;
	const uint64_t *own = p->report->container->rows[row].counts;
	size_t classes = p->graph->class_count, bytes = classes * sizeof(*p->sums), i;
	uint64_t own_sum = container_sum(own, classes);
	bool self_printed = false;

	memcpy(p->sums, own, bytes);
	memset(p->in_block, 0, bytes);
	callgraph_sum(p->graph, list, row, p->sums);
	for (i = list->first[row]; i < list->first[row + 1]; i++) {
		if (!self_printed && container_sum(list->arcs[i].counts, classes) < own_sum) {
			print_self(p, row);
			self_printed = true;
		}
		print_arc(p, &list->arcs[i], list->arcs[i].callee, p->sums);
	}
	if (!self_printed)
		print_self(p, row);
}

static void print_block(struct printer *p, size_t row)
{
	const struct container *c = p->report->container;

	print_callers(p, row);
	print_line(p, &(struct line){ .row = row,
				      .counts = c->rows[row].counts,
				      .totals = c->totals,
				      .running = p->running });
	print_callees(p, row);
	strbuf_adds(&p->line, rule);
}

static void print_blocks(struct printer *p)
{
	const struct container *c = p->report->container;
	size_t i;

	strbuf_adds(&p->line, rule);
	for (i = 0; i < c->count; i++)
		if (p->graph->is_shown[i])
			print_block(p, i);
	(void)fwrite(strbuf_text(&p->line), 1, p->line.length, p->out);
}

void report_calls_text(const struct report *r, FILE *out)
{
	const struct container *c = r->container;
	_cleanup_free_ const char **names = xcalloc(c->count + 1, sizeof(*names));
	_cleanup_free_ uint64_t *sums = xcalloc(c->class_count * 3, sizeof(*sums));
	struct printer p = { .report = r,
			     .graph = r->calls,
			     .names = names,
			     .sums = sums,
			     .in_block = sums + c->class_count,
			     .running = sums + c->class_count * 2,
			     .out = out };

	table_init(&p.table, r);
	if (!r->view->no_header)
		table_print_heads(&p.table, out);
	print_blocks(&p);
	table_print_left_out(r, c, out);
	if (p.hidden_arcs)
		(void)fprintf(out, "(%zu row%s in blocks below %g %% of their block not shown)\n",
			      p.hidden_arcs, text_plural(p.hidden_arcs), r->view->threshold);
	table_done(&p.table);
	strbuf_done(&p.line);
	strbuf_done(&p.cell);
	arena_done(&p.arena);
}
