/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/json_diff.h"
#include "profile/print/json_head.h"

#include "base/json.h"
#include "base/mem.h"
#include "profile/rows/callgraph.h"
#include "profile/rows/code_kind.h"
#include "profile/rows/row_detail.h"
#include "profile/print/losses.h"
#include "profile/print/report.h"

#include <string.h>

/* Writes the 95 % confidence intervals of the percentages. */
static void write_intervals(const struct report *r, const struct row *row, const uint64_t *counts,
			    const uint64_t *totals, struct json *j)
{
	_cleanup_free_ struct statistics_interval *all =
		xcalloc(r->container->class_count, sizeof(*all));
	size_t i;

	for (i = 0; i < r->container->class_count; i++)
		all[i] = row ? container_row_interval(r->container, row, NULL, i)
			     : container_interval(r->container, i, counts[i], totals[i]);

	json_open(j, "percent_from", '[');
	for (i = 0; i < r->container->class_count; i++)
		json_double(j, NULL, 100 * all[i].low);
	json_close(j, ']');
	json_open(j, "percent_to", '[');
	for (i = 0; i < r->container->class_count; i++)
		json_double(j, NULL, 100 * all[i].high);
	json_close(j, ']');
}

/* Writes counts, which are those of @row unless that is NULL. */
static void write_counts(const struct report *r, const struct row *row, const uint64_t *counts,
			 const uint64_t *totals, struct json *j)
{
	size_t i;

	json_open(j, "samples", '[');
	for (i = 0; i < r->container->class_count; i++)
		json_u64(j, NULL, counts[i]);
	json_close(j, ']');
	json_open(j, "percent", '[');
	for (i = 0; i < r->container->class_count; i++)
		json_double(j, NULL, container_share(counts[i], totals[i]));
	json_close(j, ']');
	if (r->view->errors)
		write_intervals(r, row, counts, totals, j);
}

static void write_line(const struct row_place *place, struct json *j)
{
	if (!place->file)
		return;
	json_string(j, "file", place->file);
	json_u64(j, "line", place->line);
}

static void write_details(const struct report *r, const struct row *row, struct json *j)
{
	_cleanup_(detail_done) struct detail d;

	json_open(j, "details", '[');
	detail_begin(&d, r->container, row);
	while (detail_next(&d)) {
		json_line(j);
		json_open(j, NULL, '{');
		json_hex(j, "address", d.address);
		write_line(&d.place, j);
		write_counts(r, NULL, d.counts, r->container->totals, j);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Writes the rows left out, with percentages if they are part of the totals. */
static void write_left_out(const struct report *r, const char *name, size_t rows,
			   const uint64_t *counts, const uint64_t *totals, struct json *j)
{
	size_t i;

	if (!rows)
		return;
	json_open(j, name, '{');
	json_u64(j, "rows", rows);
	if (totals) {
		write_counts(r, NULL, counts, totals, j);
	} else {
		json_open(j, "samples", '[');
		for (i = 0; i < r->container->class_count; i++)
			json_u64(j, NULL, counts[i]);
		json_close(j, ']');
	}
	json_close(j, '}');
}

/* Writes the members that name the row, in an object that the caller opens and closes. */
static void write_place(const struct report *r, const struct row *row, struct json *j)
{
	json_string(j, "image", gather_image_name(r->gather, row->image, true));
	if (row->app != GATHER_NONE)
		json_string(j, "app", gather_image_name(r->gather, row->app, true));
	if (row->is_end) {
		json_string(j, "symbol", NULL);
		json_string(j, "why", row->text);
	} else if (row->kind == ROW_SYMBOL) {
		json_string(j, "symbol", row->text);
		if (strcmp(row->text, row->symbol->name))
			json_string(j, "linkage_name", row->symbol->name);
		json_hex(j, "address", row->address);
		if (row->is_inlined)
			json_bool(j, "inlined", true);
	} else if (row->kind != ROW_IMAGE) {
		json_string(j, "symbol", NULL);
		json_string(j, "why", row->text);
	}
	if (row->kind != ROW_IMAGE && !row->is_end)
		json_string(j, "kind", code_kind_name(code_kind_of(r->gather, row)));
	write_line(&row->place, j);
}

/* Writes the rows at the other ends of a row's arcs; percentages are of these arcs plus the row's
 * own samples @own, if not NULL. */
static void write_arcs(const struct report *r, const char *name, const struct arc_list *list,
		       size_t row, const uint64_t *own, struct json *j)
{
	const struct container *c = r->container;
	_cleanup_free_ uint64_t *totals = xcalloc(c->class_count, sizeof(*totals));
	size_t i;

	if (own)
		memcpy(totals, own, c->class_count * sizeof(*totals));
	callgraph_sum(r->calls, list, row, totals);
	json_open(j, name, '[');
	for (i = list->first[row]; i < list->first[row + 1]; i++) {
		const struct arc *arc = &list->arcs[i];

		if (!container_counts_reach(c, arc->counts, totals, r->view->threshold))
			continue;
		json_open(j, NULL, '{');
		write_place(r, &c->rows[arc->caller == row ? arc->callee : arc->caller], j);
		write_counts(r, NULL, arc->counts, totals, j);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_differences(const struct report *r, const struct row *row, struct json *j)
{
	size_t i;

	json_open(j, "difference", '[');
	for (i = 0; i < r->container->class_count; i++)
		json_difference(r, NULL, (struct json_changed){ r->container, row, i }, j);
	json_close(j, ']');
}

static void write_row(const struct report *r, size_t index, struct json *j)
{
	const struct row *row = &r->container->rows[index];

	if (r->calls && !r->calls->is_shown[index])
		return;
	json_line(j);
	json_open(j, NULL, '{');
	write_place(r, row, j);
	write_counts(r, row, container_counts(r->container, row), r->container->totals, j);
	if (r->before)
		write_differences(r, row, j);
	if (r->view->rows.details)
		write_details(r, row, j);
	if (r->calls) {
		write_arcs(r, "callers", &r->calls->callers, index, NULL, j);
		write_arcs(r, "callees", &r->calls->callees, index, row->counts, j);
	}
	json_close(j, '}');
}

void report_json(const struct report *r, FILE *out)
{
	const struct container *c = r->container;
	struct json j = JSON_INIT(out);
	size_t i;

	json_open(&j, NULL, '{');
	json_head(r, &j);
	if (r->before)
		json_comparison(r, &j);
	json_open(&j, "rows", '[');
	for (i = 0; i < c->count; i++)
		write_row(r, i, &j);
	json_close(&j, ']');
	write_left_out(r, "hidden", c->hidden_rows, c->hidden, c->totals, &j);
	write_left_out(r, "beyond", c->beyond_rows, c->beyond, c->totals, &j);
	write_left_out(r, "unchosen", c->unchosen_rows, c->unchosen, NULL, &j);
	json_close(&j, '}');
	(void)fputc('\n', out);
}
