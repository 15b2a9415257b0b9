/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/internal/table.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/print/internal/column.h"
#include "profile/print/report.h"

#include <inttypes.h>
#include <string.h>

enum { HEAD_MAX = 64 }; /* characters of a class's name */

/* Blanks after @used characters, at least one. */
static void pad(struct strbuf *line, unsigned int used, unsigned int width)
{
	strbuf_fill(line, ' ', used < width ? width - used : 1);
}

void table_add_cell(struct strbuf *line, const char *text, unsigned int width)
{
	strbuf_adds(line, text);
	if (width)
		pad(line, text_width(text), width);
}

void table_write_cell(struct strbuf *line, const struct table_place *place, const struct cell *cell)
{
	const char *colour = NULL;
	unsigned int used;
	size_t from;

	if (place->column->is_share && cell->report->view->colour)
		colour = report_colour(
			container_share(cell->counts[cell->class], cell->totals[cell->class]));
	strbuf_adds(line, colour ?: "");
	from = line->length;
	place->column->write(cell, line);
	used = place->width ? text_width(strbuf_text(line) + from) : 0;
	strbuf_adds(line, colour ? report_colour_end : "");
	if (place->width)
		pad(line, used, place->width);
}

/* Places the columns from @from on that occur once, or once for @class; returns the first other
 * one. */
static size_t place_run(struct table *t, size_t from, size_t class)
{
	size_t n, i;
	const struct column *columns = column_table(&n);

	for (i = from; i < n && columns[i].per_class == columns[from].per_class; i++)
		if (columns[i].is_shown(t->report))
			t->places[t->count++] = (struct table_place){ &columns[i], class, 0 };
	return i;
}

/* Orders the columns: those of one class are neighbours. */
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

/* Widens the columns to their content, up to their limits; the last one needs no width. */
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

/* With several classes, the line above the heads names the class of each column. */
static void print_class_names(const struct table *t, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	unsigned int width = 0;
	size_t i;

	for (i = 0; i < t->count; i++) {
		const struct table_place *p = &t->places[i];
		char name[HEAD_MAX + 1] = "";

		width += p->width;
		if (i + 1 < t->count && t->places[i + 1].column->per_class &&
		    p->column->per_class && t->places[i + 1].class == p->class)
			continue;
		if (p->column->per_class)
			report_class_name(t->report, p->class,
					  MIN(width - 1, (unsigned int)HEAD_MAX), name);
		table_add_cell(&line, name, width);
		width = 0;
	}
	strbuf_trim(&line);
	(void)fprintf(out, "%s\n", strbuf_text(&line));
}

static const char *head_of(const struct table *t, const struct table_place *place)
{
	const struct column *column = place->column;

	return column->time_head && report_is_time(t->report, place->class) ? column->time_head
									    : column->head;
}

void table_print_heads(const struct table *t, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	size_t i;

	if (t->report->container->class_count > 1)
		print_class_names(t, out);
	for (i = 0; i < t->count; i++)
		table_add_cell(&line, head_of(t, &t->places[i]), t->places[i].width);
	(void)fprintf(out, "%s%s%s\n", t->report->view->colour ? "\033[1m" : "", strbuf_text(&line),
		      t->report->view->colour ? report_colour_end : "");
}

/* Makes lines fit the terminal, if there is one: shrinks columns to their minimum if names would
 * have no room otherwise, and cuts names to the rest. */
static void fit_terminal(struct table *t)
{
	enum { NAME_LEAST = 24, BESIDE_CALLS = 9 };
	unsigned int used = t->report->calls ? BESIDE_CALLS : 0, least = used;
	size_t i;

	for (i = 0; i + 1 < t->count; i++) {
		used += t->places[i].width;
		least += t->places[i].column->width + 1;
	}
	t->is_tight = used + NAME_LEAST > t->report->view->width;
	for (i = 0; t->is_tight && i + 1 < t->count; i++)
		t->places[i].width = t->places[i].column->width + 1;
	used = t->is_tight ? least : used;
	t->room = MAX(used + NAME_LEAST, t->report->view->width) - used;
}

unsigned int table_room(const struct table *t, const struct table_place *place)
{
	if (!place->width)
		return t->room;
	return t->is_tight ? place->width - 1 : 0;
}

void table_init(struct table *t, const struct report *report)
{
	*t = (struct table){ .report = report };
	place_columns(t);
	fit_columns(t);
	if (report->view->width)
		fit_terminal(t);
}

void table_done(struct table *t)
{
	free(t->places);
	*t = (struct table){ 0 };
}

/* Rows that are not shown, and images of which no row is. */
struct not_shown {
	size_t rows, images;
};

/* Prints "(3 rows WHY not shown: 40 samples, 10.0000 %" and returns true if there are any. */
static bool print_note(const struct report *r, const struct container *c, struct not_shown what,
		       const uint64_t *counts, const char *why, FILE *out)
{
	char percent[16], count[REPORT_COUNT_MAX + 8];
	size_t i;

	if (what.rows == 0 && what.images == 0)
		return false;
	(void)fprintf(out, "(%zu row%s %s", what.rows, text_plural(what.rows), why);
	if (what.images)
		(void)fprintf(out, ", and all of %zu image%s with fewer samples,", what.images,
			      text_plural(what.images));
	(void)fputs(" not shown:", out);
	for (i = 0; i < c->class_count; i++) {
		report_note_percent(r->view, container_percent(c, counts[i], i), percent);
		report_count_noun(r, i, counts[i], count);
		(void)fprintf(out, "%s %s, %s %%", i ? ";" : "", count, percent);
	}
	return true;
}

void table_print_left_out(const struct report *r, const struct container *c, FILE *out)
{
	char why[64], count[REPORT_COUNT_MAX + 8];
	size_t i;

	(void)snprintf(why, sizeof(why), "below %g %%", r->view->threshold);
	if (print_note(r, c, (struct not_shown){ c->hidden_rows, 0 }, c->hidden, why, out))
		(void)fputs(")\n", out);
	(void)snprintf(why, sizeof(why), "beyond the first %" PRIu64, r->view->top);
	if (print_note(r, c, (struct not_shown){ c->beyond_rows, c->beyond_images }, c->beyond, why,
		       out))
		(void)fputs(report_all_hint(r->view), out);
	if (!c->unchosen_rows)
		return;
	(void)fprintf(out,
		      "(%zu row%s not selected, and not part of any percentage:", c->unchosen_rows,
		      text_plural(c->unchosen_rows));
	for (i = 0; i < c->class_count; i++) {
		report_count_noun(r, i, c->unchosen[i], count);
		(void)fprintf(out, "%s %s", i ? ";" : "", count);
	}
	(void)fprintf(out, ")\n");
}
