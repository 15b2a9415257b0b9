/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/report.h"

#include "base/mem.h"
#include "base/text.h"
#include "profile/print/internal/table.h"

#include <inttypes.h>
#include <string.h>

/* Widths of a class: nine digits, a blank, seven characters of percent; a blank and seven
 * characters for each end of an interval. */
enum { HEAD_WIDTH = 17, PERCENT_WIDTH = 8 };

/* The applications' sums, and the rows of each. */
struct summary {
	const struct report *report;
	struct container apps;	 /* one row per application, its image the application's */
	const struct row **rows; /* by application, in the report's order within each */
	size_t *first;		 /* by image as application: its part of ->rows */
	size_t *count;
};

/* Sorts the rows by application without changing the order within one. */
static void split_rows(struct summary *s)
{
	const struct container *c = s->report->container;
	size_t images = s->report->gather->image_count, i, sum = 0;

	s->rows = xcalloc(c->count + 1, sizeof(*s->rows));
	s->first = xcalloc(images, sizeof(*s->first));
	s->count = xcalloc(images, sizeof(*s->count));
	for (i = 0; i < c->count; i++)
		s->count[c->rows[i].app]++;
	for (i = 0; i < images; i++) {
		s->first[i] = sum;
		sum += s->count[i];
		s->count[i] = 0;
	}
	for (i = 0; i < c->count; i++) {
		uint32_t app = c->rows[i].app;

		s->rows[s->first[app] + s->count[app]++] = &c->rows[i];
	}
}

/* Adds the counts of a row of @c to those of its application; @blocks are its own. */
static void add_row(struct row *app, const struct row *row, const struct container *c,
		    uint64_t *blocks)
{
	size_t i;

	for (i = 0; i < c->class_count; i++)
		app->counts[i] += row->counts[i];
	for (i = 0; blocks && i < c->class_count * (c->block_count + 1); i++)
		blocks[i] += row->blocks[i];
	app->blocks = blocks;
}

/* Room for the blocks of a row of @apps; NULL if @c has none. */
static uint64_t *make_blocks(struct container *apps, const struct container *c)
{
	size_t size = c->class_count * (c->block_count + 1) * sizeof(uint64_t);

	return c->block_count ? memset(arena_alloc(&apps->arena, size), 0, size) : NULL;
}

static void sum_apps(struct summary *s)
{
	const struct container *c = s->report->container;
	size_t i, j;

	container_init_like(&s->apps, c);
	for (i = 0; i < s->report->gather->image_count; i++) {
		uint64_t *blocks;
		struct row *app;

		if (s->count[i] == 0)
			continue;
		app = container_add_row(&s->apps, &(struct row){ .image = (uint32_t)i,
								 .app = (uint32_t)i,
								 .kind = ROW_IMAGE });
		blocks = make_blocks(&s->apps, c);
		for (j = 0; j < s->count[i]; j++)
			add_row(app, s->rows[s->first[i] + j], c, blocks);
	}
	container_name(&s->apps, NULL);
}

static void print_errors(const struct report *r, const struct row *row, const struct row *whole,
			 size_t class, FILE *out)
{
	struct statistics_interval interval =
		container_row_interval(r->container, row, whole, class);
	char low[16], high[16];

	report_percent(r->view->decimals, 100 * interval.low, low);
	report_percent(r->view->decimals, 100 * interval.high, high);
	(void)fprintf(out, "%s %s ", low, high);
}

/* Prints one line: the counts, and their percentages of @whole (of all samples if NULL). */
static void print_row(const struct report *r, const struct row *row, const struct row *whole,
		      FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf name = STRBUF_INIT;
	size_t i;

	for (i = 0; i < r->container->class_count; i++) {
		uint64_t of = whole ? whole->counts[i] : r->container->totals[i];
		char text[16], count[REPORT_COUNT_MAX];

		report_percent(r->view->decimals, container_share(row->counts[i], of), text);
		report_count(r, i, row->counts[i], count);
		(void)fprintf(out, "%9s %s ", count, text);
		if (r->view->errors)
			print_errors(r, row, whole, i, out);
	}
	text_visible(&name, report_image(r, row->image));
	(void)fprintf(out, "%s\n", strbuf_text(&name));
}

static void print_heads(const struct report *r, FILE *out)
{
	size_t width = HEAD_WIDTH + (r->view->errors ? 2 * PERCENT_WIDTH : 0), i;

	for (i = 0; i < r->classes->count; i++) {
		char name[HEAD_WIDTH + 2 * PERCENT_WIDTH + 1];

		report_class_name(r, i, width, name);
		(void)fprintf(out, "%*s|", (int)width, name);
	}
	(void)fputs("\n", out);
	for (i = 0; i < r->classes->count; i++)
		(void)fprintf(out, "%9s|      %%|%s", report_unit(r, i),
			      r->view->errors ? " % from|   % to|" : "");
	(void)fputs("\n", out);
	for (i = 0; i < r->classes->count * (width + 1); i++)
		(void)fputs("-", out);
	(void)fputs("\n", out);
}

/* Removes rows that are not shown, and counts them. */
static void cut_rows(const struct report *r, struct container *c)
{
	container_cut(c, r->view->threshold);
	container_top(c, r->view->top);
}

static void hide_image(struct summary *s, const struct row *row)
{
	size_t i;

	for (i = 0; i < s->apps.class_count; i++)
		s->apps.hidden[i] += row->counts[i];
	s->apps.hidden_rows++;
}

/* Prints the images of an application, indented; nothing if all samples are in the application
 * itself. */
static void print_images(struct summary *s, const struct row *app, FILE *out)
{
	const struct row *const *rows = s->rows + s->first[app->image];
	size_t n = s->count[app->image], i;

	if (n == 1 && rows[0]->image == app->image)
		return;
	for (i = 0; i < n; i++) {
		if (!container_reaches(s->report->container, rows[i], s->report->view->threshold)) {
			hide_image(s, rows[i]);
			continue;
		}
		(void)fputs("\t", out);
		print_row(s->report, rows[i], s->report->view->global_percent ? NULL : app, out);
	}
}

/* Prints images without applications. Copies their rows, because some are removed. */
static void print_merged(const struct report *r, FILE *out)
{
	const struct container *c = r->container;
	struct container images;
	size_t i;

	container_init_like(&images, c);
	for (i = 0; i < c->count; i++)
		memcpy(container_add_row(&images, &c->rows[i])->counts, c->rows[i].counts,
		       c->class_count * sizeof(*c->totals));
	cut_rows(r, &images);
	for (i = 0; i < images.count; i++)
		print_row(r, &images.rows[i], NULL, out);
	table_print_left_out(r, &images, out);
	container_done(&images);
}

void report_summary_text(const struct report *r, FILE *out)
{
	struct summary s = { .report = r };
	size_t i;

	if (!r->view->no_header)
		print_heads(r, out);
	if (r->view->rows.merge_lib) {
		print_merged(r, out);
		return;
	}
	split_rows(&s);
	sum_apps(&s);
	sort_rows(&s.apps, r->gather, &r->view->sort);
	cut_rows(r, &s.apps);
	for (i = 0; i < s.apps.count; i++) {
		print_row(r, &s.apps.rows[i], NULL, out);
		print_images(&s, &s.apps.rows[i], out);
	}
	table_print_left_out(r, &s.apps, out);
	container_done(&s.apps);
	free(s.rows);
	free(s.first);
	free(s.count);
}
