/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/internal/column.h"

#include "base/strbuf.h"
#include "base/text.h"
#include "file/path.h"
#include "profile/rows/row_detail.h"
#include "profile/print/report.h"

#include <inttypes.h>
#include <string.h>

static bool shown_always(const struct report *r _unused_)
{
	return true;
}

static bool shown_with_address(const struct report *r)
{
	return r->view->show_address;
}

static bool shown_with_lines(const struct report *r)
{
	return r->view->rows.lines;
}

static bool shown_accumulated(const struct report *r)
{
	return r->view->accumulated;
}

static bool shown_with_apps(const struct report *r)
{
	return !r->view->rows.merge_lib && report_has_apps(r);
}

static bool shown_with_difference(const struct report *r)
{
	return r->container->before_totals;
}

static bool shown_with_symbols(const struct report *r)
{
	return r->view->rows.symbols;
}

static bool shown_with_errors(const struct report *r)
{
	return r->view->errors;
}

static void add_share(const struct cell *cell, uint64_t count, struct strbuf *out)
{
	char text[16];

	report_percent(cell->report->view->decimals,
		       container_share(count, cell->totals[cell->class]), text);
	strbuf_adds(out, text);
}

static void write_vma(const struct cell *cell, struct strbuf *out)
{
	strbuf_addx(out, cell->detail ? cell->detail->address : cell->row->address, cell->width);
}

static void add_count(const struct cell *cell, uint64_t count, struct strbuf *out)
{
	char text[REPORT_COUNT_MAX];

	report_count(cell->report, cell->class, count, text);
	strbuf_adds(out, text);
}

static void write_samples(const struct cell *cell, struct strbuf *out)
{
	add_count(cell, cell->row->is_gone ? 0 : cell->counts[cell->class], out);
}

static void write_sum(const struct cell *cell, struct strbuf *out)
{
	add_count(cell, cell->sum, out);
}

static void write_percent(const struct cell *cell, struct strbuf *out)
{
	add_share(cell, cell->row->is_gone ? 0 : cell->counts[cell->class], out);
}

static double share_before(const struct cell *cell)
{
	return report_share_before(cell->report->container, cell->row, cell->class);
}

static void write_before(const struct cell *cell, struct strbuf *out)
{
	char text[16];

	report_percent(cell->report->view->decimals, share_before(cell), text);
	strbuf_adds(out, text);
}

/* By how many percentage points the share grew. */
static void write_points(const struct cell *cell, struct strbuf *out)
{
	const uint64_t count = cell->row->is_gone ? 0 : cell->counts[cell->class];

	report_add_points(out, cell->report,
			  container_share(count, cell->totals[cell->class]) - share_before(cell));
}

static void write_difference(const struct cell *cell, struct strbuf *out)
{
	report_add_difference(out, cell->report, cell->report->container, cell->row, cell->class);
}

static struct statistics_interval interval_of(const struct cell *cell)
{
	if (cell->counts == cell->row->counts && cell->totals == cell->report->container->totals)
		return container_row_interval(cell->report->container, cell->row, NULL,
					      cell->class);
	return container_interval(cell->report->container, cell->class, cell->counts[cell->class],
				  cell->totals[cell->class]);
}

static void add_end(const struct cell *cell, double end, struct strbuf *out)
{
	char text[16];

	report_percent(cell->report->view->decimals, 100 * end, text);
	strbuf_adds(out, cell->row->is_gone ? "    ---" : text);
}

static void write_low(const struct cell *cell, struct strbuf *out)
{
	add_end(cell, interval_of(cell).low, out);
}

static void write_high(const struct cell *cell, struct strbuf *out)
{
	add_end(cell, interval_of(cell).high, out);
}

static void write_sum_percent(const struct cell *cell, struct strbuf *out)
{
	add_share(cell, cell->sum, out);
}

static void add_place(const struct report *r, const struct row_place *place, struct strbuf *out)
{
	if (!place->file) {
		strbuf_adds(out, "(no location information)");
		return;
	}
	text_visible(out, r->view->long_names ? place->file : path_base(place->file));
	strbuf_adds(out, ":");
	strbuf_addu(out, place->line);
}

static void write_place(const struct cell *cell, struct strbuf *out)
{
	add_place(cell->report, cell->detail ? &cell->detail->place : &cell->row->place, out);
}

static void add_name(const struct cell *cell, const char *name, struct strbuf *out)
{
	size_t before = out->length;

	text_visible(out, name);
	if (cell->room)
		text_cut(out, before, cell->room);
}

static void write_image(const struct cell *cell, struct strbuf *out)
{
	add_name(cell, report_image(cell->report, cell->row->image), out);
}

static void write_app(const struct cell *cell, struct strbuf *out)
{
	add_name(cell, report_image(cell->report, cell->row->app), out);
}

static void write_symbol(const struct cell *cell, struct strbuf *out)
{
	report_add_name(out, cell->row, cell->room);
}

/* No count is longer than the longest total. */
static unsigned int longest_count(const struct report *r)
{
	unsigned int longest = 1;
	char text[REPORT_COUNT_MAX];
	size_t i;

	for (i = 0; i < r->container->class_count; i++) {
		report_count(r, i, r->container->totals[i], text);
		longest = MAX(longest, (unsigned int)strlen(text));
	}
	return longest;
}

static unsigned int longest_place(const struct report *r)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	const struct container *c = r->container;
	unsigned int longest = 0;
	size_t i;

	for (i = 0; i < c->count; i++) {
		strbuf_clear(&text);
		add_place(r, &c->rows[i].place, &text);
		longest = MAX(longest, text_width(strbuf_text(&text)));
	}
	return longest;
}

static unsigned int longest_image(const struct report *r)
{
	const struct container *c = r->container;
	unsigned int longest = 0;
	size_t i;

	for (i = 0; i < c->count; i++)
		if (i == 0 || c->rows[i].image != c->rows[i - 1].image)
			longest = MAX(longest, text_width(report_image(r, c->rows[i].image)));
	return longest;
}

static unsigned int longest_app(const struct report *r)
{
	const struct container *c = r->container;
	unsigned int longest = 0;
	size_t i;

	for (i = 0; i < c->count; i++)
		if (i == 0 || c->rows[i].app != c->rows[i - 1].app)
			longest = MAX(longest, text_width(report_image(r, c->rows[i].app)));
	return longest;
}

/* Returns the length of the longest address, so that the column is aligned. The last kept address
 * of a row is its highest. */
static unsigned int longest_address(const struct report *r)
{
	const struct container *c = r->container;
	size_t i;

	for (i = 0; i < c->count; i++)
		if ((c->rows[i].address | detail_highest(&c->rows[i])) >> 32)
			return 16;
	return 8;
}

static const struct column columns[] = {
	{ "vma", 8, 16, false, true, false, shown_with_address, longest_address, write_vma },
	{ "samples", 8, 20, true, true, false, shown_always, longest_count, write_samples, "ms" },
	{ "cum. samples", 13, 20, true, true, false, shown_accumulated, longest_count, write_sum,
	  "cum. ms" },
	{ "%", 8, 8, true, true, true, shown_always, NULL, write_percent },
	{ "before %", 8, 8, true, true, false, shown_with_difference, NULL, write_before },
	{ "points", 8, 9, true, true, false, shown_with_difference, NULL, write_points },
	{ "diff %", 13, 16, true, false, false, shown_with_difference, NULL, write_difference },
	{ "% from", 8, 8, true, true, false, shown_with_errors, NULL, write_low },
	{ "% to", 8, 8, true, true, false, shown_with_errors, NULL, write_high },
	{ "cum. %", 10, 10, true, true, false, shown_accumulated, NULL, write_sum_percent },
	{ "linenr info", 27, 40, false, true, false, shown_with_lines, longest_place, write_place },
	{ "image name", 24, 40, false, false, false, shown_always, longest_image, write_image },
	{ "app name", 24, 40, false, false, false, shown_with_apps, longest_app, write_app },
	{ "symbol name", 0, 0, false, false, false, shown_with_symbols, NULL, write_symbol },
};

const struct column *column_table(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(columns);
	return columns;
}
