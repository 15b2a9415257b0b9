/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/report.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "profile/column.h"
#include "profile/table.h"

#include <inttypes.h>

static void print_rows(const struct table *t, FILE *out)
{
	const struct container *c = t->report->container;
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT, text = STRBUF_INIT;
	_cleanup_free_ uint64_t *sums = xcalloc(c->class_count, sizeof(*sums));
	size_t i, j;

	for (i = 0; i < c->count; i++) {
		const struct row *row = &c->rows[i];

		strbuf_clear(&line);
		for (j = 0; j < c->class_count; j++)
			sums[j] += row->counts[j];
		for (j = 0; j < t->count; j++) {
			const struct table_place *p = &t->places[j];
			struct cell cell = { .report = t->report,
					     .row = row,
					     .class = p->class,
					     .counts = row->counts,
					     .totals = c->totals,
					     .sum = sums[p->class],
					     .width = p->width ? p->width - 1 : 0 };

			strbuf_clear(&text);
			p->column->write(&cell, &text);
			table_add_cell(&line, strbuf_text(&text), p->width);
		}
		strbuf_adds(&line, "\n");
		(void)fwrite(strbuf_text(&line), 1, line.length, out);
	}
}

/* What a threshold took away. */
static void print_hidden(const struct report *r, FILE *out)
{
	const struct container *c = r->container;
	size_t i;

	if (!c->hidden_rows)
		return;
	(void)fprintf(out, "(%zu rows below %g %% not shown:", c->hidden_rows, r->threshold);
	for (i = 0; i < c->class_count; i++)
		(void)fprintf(out, "%s %" PRIu64 " samples, %.4f %%", i ? ";" : "", c->hidden[i],
			      container_percent(c, c->hidden[i], i));
	(void)fprintf(out, ")\n");
}

void report_symbols_text(const struct report *r, FILE *out)
{
	struct table t;

	table_init(&t, r);
	if (r->show_header)
		table_print_heads(&t, out);
	print_rows(&t, out);
	print_hidden(r, out);
	table_done(&t);
}
