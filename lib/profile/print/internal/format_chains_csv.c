/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/format_chains.h"

#include "base/mem.h"
#include "profile/print/internal/chains_lists.h"
#include "profile/print/internal/csv.h"
#include "profile/print/report.h"
#include "profile/rows/chains.h"

#include <stdlib.h>

static void print_line(const struct report *r, struct strbuf *line, FILE *out)
{
	csv_line_print(r, line, out);
	strbuf_clear(line);
}

/* Adds the count in the first profile, by how much it grew, and whether that may be chance. */
static void add_difference(const struct report *r, const struct row *row, size_t class,
			   struct strbuf *line)
{
	enum diff_verdict verdict;
	double percent;
	enum diff_change change =
		diff_of_row(&r->chains->rows, row, class, r->view->compare_by, &percent, &verdict);

	csv_number(line, row->before ? row->before[class] : 0);
	if (change == DIFF_CHANGED)
		strbuf_addf(line, ",%.9g", percent);
	else
		strbuf_addf(line, ",%s", diff_change_name(change));
	csv_text(line, diff_verdict_name(verdict));
	strbuf_addf(line, ",%.9g", report_points(&r->chains->rows, row, class));
}

/* Functions: own samples, and those of all chains that they are in. */
static void print_children(const struct report *r, struct strbuf *line, FILE *out)
{
	const struct chains *c = r->chains;
	struct left_out left = { 0 };
	size_t i, count;
	_cleanup_free_ struct child *all = chains_children(c, false, &count);

	if (!r->view->no_header) {
		(void)fputs("image,symbol,linkage_name,kernel,children,self", out);
		(void)fputs(r->before ? ",children_before,children_diff_percent,children_verdict,"
					"children_points,"
					"self_before,self_diff_percent,self_verdict,self_points\n"
				      : "\n",
			    out);
	}
	for (i = 0; i < count; i++) {
		const struct row *row = all[i].row;
		bool is_symbol = row->kind == ROW_SYMBOL;

		struct chains_samples samples = chains_child_samples(&all[i]);

		if (!chains_take(r, i, samples, all[i].self, &left))
			continue;
		csv_text(line, gather_image_name(r->gather, row->image, true));
		csv_text(line, is_symbol ? row->text : "");
		csv_text(line, is_symbol ? row->symbol->name : "");
		csv_number(line, c->is_kernel[row->image]);
		csv_number(line, samples.now);
		csv_number(line, row->is_gone ? 0 : all[i].self);
		if (r->before) {
			add_difference(r, row, CHAINS_INCLUSIVE, line);
			add_difference(r, row, CHAINS_SELF, line);
		}
		print_line(r, line, out);
	}
}

static void print_stack(const struct report *r, const char *text, struct chains_samples samples,
			void *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;

	csv_text(&line, text);
	csv_number(&line, samples.now);
	if (r->before)
		csv_number(&line, samples.before);
	print_line(r, &line, out);
}

/* Stacks, as --folded has them. */
static void print_stacks(const struct report *r, FILE *out)
{
	if (!r->view->no_header)
		(void)fputs(r->before ? "stack,samples,before\n" : "stack,samples\n", out);
	(void)chains_fold(r, print_stack, out);
}

void report_chains_csv(const struct report *r, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;

	if (r->view->chains == CHAINS_CHILDREN)
		print_children(r, &line, out);
	else
		print_stacks(r, out);
}
