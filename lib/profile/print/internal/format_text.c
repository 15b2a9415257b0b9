/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/report.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "profile/print/internal/column.h"
#include "profile/rows/row_detail.h"
#include "profile/print/report_header.h"
#include "profile/rows/unresolved.h"
#include "profile/print/internal/table.h"

enum { WRITE_SIZE = 64 << 10 };

/* State while the list is printed. */
struct printing {
	const struct table *table;
	struct strbuf text; /* lines that are not written yet */
	FILE *out;
};

static void flush(struct printing *p)
{
	(void)fwrite(strbuf_text(&p->text), 1, p->text.length, p->out);
	strbuf_clear(&p->text);
}

/* Prints a line of cells like @like, with their own class, sum and width; @sums: one per class. */
static void print_line(struct printing *p, const struct cell *like, const uint64_t *sums)
{
	size_t i;

	for (i = 0; i < p->table->count; i++) {
		const struct table_place *place = &p->table->places[i];
		struct cell cell = *like;

		/* A line of a detail ends at the first column that details do not have. */
		if (like->detail && !place->column->of_detail)
			break;
		cell.class = place->class;
		cell.sum = sums[place->class];
		cell.width = place->width ? place->width - 1 : 0;
		cell.room = table_room(p->table, place);
		table_write_cell(&p->text, place, &cell);
	}
	strbuf_trim(&p->text);
	strbuf_add(&p->text, "\n", 1);
	if (p->text.length > WRITE_SIZE)
		flush(p);
}

static void add_counts(uint64_t *sums, const uint64_t *counts, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		sums[i] += counts[i];
}

/* Prints the addresses of a row, with percentages of the row's samples or of all. */
static void print_details(struct printing *p, const struct row *row)
{
	const struct report *r = p->table->report;
	size_t classes = r->container->class_count;
	_cleanup_free_ uint64_t *sums = xcalloc(classes, sizeof(*sums));
	_cleanup_(detail_done) struct detail d;

	detail_begin(&d, r->container, row);
	while (detail_next(&d)) {
		struct cell like = { .report = r,
				     .row = row,
				     .detail = &d,
				     .counts = d.counts,
				     .totals = r->view->global_percent ? r->container->totals
								       : row->counts };

		add_counts(sums, d.counts, classes);
		strbuf_add(&p->text, "  ", 2);
		print_line(p, &like, sums);
	}
}

static void print_rows(const struct table *t, FILE *out)
{
	const struct container *c = t->report->container;
	_cleanup_free_ uint64_t *sums = xcalloc(c->class_count, sizeof(*sums));
	struct printing p = { .table = t, .out = out };
	size_t i;

	for (i = 0; i < c->count; i++) {
		const struct row *row = &c->rows[i];
		struct cell like = {
			.report = t->report, .row = row, .counts = row->counts, .totals = c->totals
		};

		if (!row->is_gone)
			add_counts(sums, row->counts, c->class_count);
		print_line(&p, &like, sums);
		if (t->report->view->rows.details)
			print_details(&p, row);
	}
	flush(&p);
	strbuf_done(&p.text);
}

/* Prints a list of symbols, or of images in two profiles: one line per row. */
static void print_list(const struct report *r, FILE *out)
{
	struct table t;

	table_init(&t, r);
	if (!r->view->no_header)
		table_print_heads(&t, out);
	print_rows(&t, out);
	table_print_left_out(r, r->container, out);
	table_done(&t);
}

void report_text(const struct report *r, FILE *out)
{
	if (!r->view->no_header)
		report_header_text(r, out);
	if (r->calls)
		report_calls_text(r, out);
	else if (r->view->rows.symbols || r->before)
		print_list(r, out);
	else
		report_summary_text(r, out);
	if (!r->view->no_header && r->view->rows.symbols && r->unresolved)
		unresolved_text(r->unresolved, r->gather, out);
}
