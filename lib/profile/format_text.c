/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/report.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/column.h"

#include <inttypes.h>
#include <string.h>

enum { HEAD_MAX = 64 }; /* characters of a class's name */

/* A column where it stands in this report. */
struct place {
	const struct column *column;
	size_t class;
	unsigned int width; /* with the blank behind it; 0: the last one */
};

struct table {
	const struct report *report;
	struct place *places;
	size_t count;
	uint64_t *sums; /* so far, one a class */
};

/* Drops the blanks at the end. */
static void trim(struct strbuf *line)
{
	while (line->length && line->text[line->length - 1] == ' ')
		line->text[--line->length] = '\0';
}

static void pad(struct strbuf *line, unsigned int used, unsigned int width)
{
	do {
		strbuf_adds(line, " ");
	} while (++used < width);
}

static void add_cell(struct strbuf *line, const char *text, unsigned int width)
{
	strbuf_adds(line, text);
	if (width)
		pad(line, text_width(text), width);
}

/* Places the columns from @from on that stand once, or once for @class; returns the first that does
 * not. */
static size_t place_run(struct table *t, size_t from, size_t class)
{
	size_t n, i;
	const struct column *columns = column_table(&n);

	for (i = from; i < n && columns[i].per_class == columns[from].per_class; i++)
		if (columns[i].is_shown(t->report))
			t->places[t->count++] = (struct place){ &columns[i], class, 0 };
	return i;
}

/* Puts the columns in order: those of one class together. */
static void place_columns(struct table *t)
{
	size_t classes = t->report->container->class_count, n, i = 0, next, class;
	const struct column *columns = column_table(&n);

	t->places = xcalloc(n * classes, sizeof(*t->places));
	while (i < n) {
		next = place_run(t, i, 0);
		for (class = 1; columns[i].per_class && class < classes; class ++)
			(void)place_run(t, i, class);
		i = next;
	}
}

/* Widens the columns to what is in them, as far as they go; the last one needs no width. */
static void fit_columns(struct table *t)
{
	size_t i;

	for (i = 0; i + 1 < t->count; i++) {
		const struct column *column = t->places[i].column;
		unsigned int longest = column->longest ? column->longest(t->report) : 0;

		longest = MAX(longest, column->width);
		t->places[i].width = MIN(longest, column->most) + 1;
	}
}

/* Over the columns of several classes stands which is which. */
static void print_class_names(const struct table *t, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	unsigned int width = 0;
	size_t i;

	for (i = 0; i < t->count; i++) {
		const struct place *p = &t->places[i];
		char name[HEAD_MAX + 1] = "";

		width += p->width;
		if (i + 1 < t->count && t->places[i + 1].column->per_class &&
		    p->column->per_class && t->places[i + 1].class == p->class)
			continue;
		if (p->column->per_class)
			report_class_name(t->report, p->class,
					  MIN(width - 1, (unsigned int)HEAD_MAX), name);
		add_cell(&line, name, width);
		width = 0;
	}
	trim(&line);
	(void)fprintf(out, "%s\n", strbuf_text(&line));
}

static void print_heads(const struct table *t, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	size_t i;

	for (i = 0; i < t->count; i++)
		add_cell(&line, t->places[i].column->head, t->places[i].width);
	(void)fprintf(out, "%s%s%s\n", t->report->colour ? "\033[1m" : "", strbuf_text(&line),
		      t->report->colour ? "\033[0m" : "");
}

static void print_rows(struct table *t, FILE *out)
{
	const struct container *c = t->report->container;
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT, text = STRBUF_INIT;
	size_t i, j;

	for (i = 0; i < c->count; i++) {
		const struct row *row = &c->rows[i];

		strbuf_clear(&line);
		for (j = 0; j < c->class_count; j++)
			t->sums[j] += row->counts[j];
		for (j = 0; j < t->count; j++) {
			const struct place *p = &t->places[j];
			struct cell cell = { t->report, row, p->class, t->sums[p->class],
					     p->width ? p->width - 1 : 0 };

			strbuf_clear(&text);
			p->column->write(&cell, &text);
			add_cell(&line, strbuf_text(&text), p->width);
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
	_cleanup_free_ uint64_t *sums = xcalloc(r->container->class_count, sizeof(*sums));
	struct table t = { .report = r, .sums = sums };

	place_columns(&t);
	fit_columns(&t);
	if (r->show_header) {
		if (r->container->class_count > 1)
			print_class_names(&t, out);
		print_heads(&t, out);
	}
	print_rows(&t, out);
	print_hidden(r, out);
	free(t.places);
}
