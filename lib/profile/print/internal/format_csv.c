/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/report.h"

#include "profile/print/internal/csv.h"
#include "profile/print/session_facts.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "profile/rows/callgraph.h"
#include "profile/rows/row_detail.h"

#include <string.h>

/* A line of the table: a row, or an address of it, or a row that it calls or is called from. */
struct csv_line {
	const struct report *report;
	const struct row *row;
	const struct detail *detail; /* NULL: the row */
	const char *arc; /* the kind of a line that is an arc of the last row, or NULL */
	const uint64_t *counts;
};

static void write_kind(const struct csv_line *l, struct strbuf *line)
{
	static const char *const kinds[] = {
		[ROW_SYMBOL] = "symbol",	 [ROW_IMAGE] = "image",
		[ROW_UNNAMED] = "unnamed",	 [ROW_RARE] = "rare",
		[ROW_NO_SYMBOLS] = "no-symbols", [ROW_NO_FILE] = "no-file",
		[ROW_UNREADABLE] = "unreadable", [ROW_CHANGED] = "changed",
		[ROW_ANONYMOUS] = "anonymous",
	};
	static_assert(ARRAY_SIZE(kinds) == ROW_KIND_COUNT_, "a name for each kind");

	if (l->row->is_inlined && !l->arc && !l->detail)
		csv_text(line, "inlined");
	else
		csv_text(line, l->arc ?: l->detail ? "detail" : kinds[l->row->kind]);
}

static void write_image(const struct csv_line *l, struct strbuf *line)
{
	csv_text(line, gather_image_name(l->report->gather, l->row->image, true));
}

static void write_app(const struct csv_line *l, struct strbuf *line)
{
	uint32_t app = l->row->app;

	csv_text(line, app == GATHER_NONE ? "" : gather_image_name(l->report->gather, app, true));
}

static void write_symbol(const struct csv_line *l, struct strbuf *line)
{
	csv_text(line, l->row->kind == ROW_SYMBOL ? l->row->text : "");
}

static void write_linkage_name(const struct csv_line *l, struct strbuf *line)
{
	csv_text(line, l->row->kind == ROW_SYMBOL ? l->row->symbol->name : "");
}

static void write_address(const struct csv_line *l, struct strbuf *line)
{
	if (l->detail)
		csv_address(line, l->detail->address);
	else if (l->row->kind == ROW_SYMBOL)
		csv_address(line, l->row->address);
	else
		csv_text(line, "");
}

static const struct row_place *place_of(const struct csv_line *l)
{
	return l->detail ? &l->detail->place : &l->row->place;
}

static void write_file(const struct csv_line *l, struct strbuf *line)
{
	csv_text(line, place_of(l)->file ?: "");
}

static void write_line(const struct csv_line *l, struct strbuf *line)
{
	if (place_of(l)->file)
		csv_number(line, place_of(l)->line);
	else
		csv_text(line, "");
}

/* The columns before the classes. */
static const struct {
	const char *head;
	void (*write)(const struct csv_line *l, struct strbuf *line);
} fields[] = {
	{ "kind", write_kind },
	{ "image", write_image },
	{ "app", write_app },
	{ "symbol", write_symbol },
	{ "linkage_name", write_linkage_name },
	{ "address", write_address },
	{ "file", write_file },
	{ "line", write_line },
};

static double percent_of(const struct csv_line *l, size_t class)
{
	return container_percent(l->report->container, l->counts[class], class);
}

static struct statistics_interval interval_of(const struct csv_line *l, size_t class)
{
	if (!l->detail && !l->arc)
		return container_row_interval(l->report->container, l->row, NULL, class);
	return container_interval(l->report->container, class, l->counts[class],
				  l->report->container->totals[class]);
}

static void write_samples(const struct csv_line *l, size_t class, struct strbuf *line)
{
	csv_number(line, l->counts[class]);
}

/* All percentages, also of addresses and arcs, are of all samples of the class. */
static void write_percent(const struct csv_line *l, size_t class, struct strbuf *line)
{
	strbuf_addf(line, ",%.9g", percent_of(l, class));
}

static void write_from(const struct csv_line *l, size_t class, struct strbuf *line)
{
	strbuf_addf(line, ",%.9g", 100 * interval_of(l, class).low);
}

static void write_to(const struct csv_line *l, size_t class, struct strbuf *line)
{
	strbuf_addf(line, ",%.9g", 100 * interval_of(l, class).high);
}

static void write_before(const struct csv_line *l, size_t class, struct strbuf *line)
{
	csv_number(line, l->row->before ? l->row->before[class] : 0);
}

static void write_before_percent(const struct csv_line *l, size_t class, struct strbuf *line)
{
	strbuf_addf(line, ",%.9g", report_share_before(l->report->container, l->row, class));
}

static void write_points(const struct csv_line *l, size_t class, struct strbuf *line)
{
	strbuf_addf(line, ",%.9g", report_points(l->report->container, l->row, class));
}

/* "new" or "gone" instead of a number. */
static void write_difference(const struct csv_line *l, size_t class, struct strbuf *line)
{
	enum diff_verdict verdict;
	double percent;
	enum diff_change change = diff_of_row(l->report->container, l->row, class,
					      l->report->view->compare_by, &percent, &verdict);

	if (change == DIFF_CHANGED)
		strbuf_addf(line, ",%.9g", percent);
	else
		strbuf_addf(line, ",%s", diff_change_name(change));
}

static enum diff_verdict verdict_of(const struct csv_line *l, size_t class)
{
	enum diff_verdict verdict;
	double percent;

	(void)diff_of_row(l->report->container, l->row, class, l->report->view->compare_by,
			  &percent, &verdict);
	return verdict;
}

static void write_significant(const struct csv_line *l, size_t class, struct strbuf *line)
{
	strbuf_adds(line, verdict_of(l, class) == DIFF_CHANCE ? ",false" : ",true");
}

static void write_verdict(const struct csv_line *l, size_t class, struct strbuf *line)
{
	csv_text(line, diff_verdict_name(verdict_of(l, class)));
}

static bool shown_always(const struct report *r _unused_)
{
	return true;
}

static bool shown_with_errors(const struct report *r)
{
	return r->view->errors;
}

static bool shown_with_difference(const struct report *r)
{
	return r->before;
}

/* The columns of each class. */
static const struct {
	const char *head;
	bool (*is_shown)(const struct report *r);
	void (*write)(const struct csv_line *l, size_t class, struct strbuf *line);
} class_fields[] = {
	{ "samples", shown_always, write_samples },
	{ "percent", shown_always, write_percent },
	{ "percent_from", shown_with_errors, write_from },
	{ "percent_to", shown_with_errors, write_to },
	{ "before", shown_with_difference, write_before },
	{ "before_percent", shown_with_difference, write_before_percent },
	{ "diff_percent", shown_with_difference, write_difference },
	{ "significant", shown_with_difference, write_significant },
	{ "verdict", shown_with_difference, write_verdict },
	{ "points", shown_with_difference, write_points },
};

static void write_class_heads(const struct report *r, size_t class, struct strbuf *line)
{
	_cleanup_(strbuf_done) struct strbuf head = STRBUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(class_fields); i++) {
		if (!class_fields[i].is_shown(r))
			continue;
		strbuf_clear(&head);
		strbuf_adds(&head, class_fields[i].head);
		if (r->classes->count > 1)
			strbuf_addf(&head, " %s", r->classes->classes[class].name);
		csv_text(line, strbuf_text(&head));
	}
}

/* What a window of time covers, in columns after the others. Of several sessions, only the times of
 * one are those of a row, so there are none. */
static void add_time_head(const struct session_fact *fact, void *data)
{
	_cleanup_free_ char *head = xasprintf("time_%s", fact->name);

	csv_text(data, head);
}

static void add_time_value(const struct session_fact *fact, void *data)
{
	csv_text(data, fact->text);
}

static void add_times(const struct report *r,
		      void (*add)(const struct session_fact *fact, void *data), struct strbuf *line)
{
	if (r->gather && r->gather->session_count == 1)
		(void)session_facts_each(&r->gather->sessions[0], SESSION_FACTS_TIME, add, line);
}

static void write_heads(const struct report *r, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		csv_text(&line, fields[i].head);
	for (i = 0; i < r->classes->count; i++)
		write_class_heads(r, i, &line);
	add_times(r, add_time_head, &line);
	csv_line_print(r, &line, out);
}

static void write_record(const struct csv_line *l, struct strbuf *line, FILE *out)
{
	size_t i, j;

	strbuf_clear(line);
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		fields[i].write(l, line);
	for (i = 0; i < l->report->container->class_count; i++)
		for (j = 0; j < ARRAY_SIZE(class_fields); j++)
			if (class_fields[j].is_shown(l->report))
				class_fields[j].write(l, i, line);
	add_times(l->report, add_time_value, line);
	csv_line_print(l->report, line, out);
}

/* Writes lines about the callers and callees of row number @row. */
static void write_arcs(const struct report *r, size_t row, struct strbuf *line, FILE *out)
{
	const struct arc_list *callers = &r->calls->callers, *callees = &r->calls->callees;
	const struct row *rows = r->container->rows;
	struct csv_line l = { .report = r, .arc = "caller" };
	size_t i;

	for (i = callers->first[row]; i < callers->first[row + 1]; i++) {
		l.row = &rows[callers->arcs[i].caller];
		l.counts = callers->arcs[i].counts;
		write_record(&l, line, out);
	}
	l.arc = "callee";
	for (i = callees->first[row]; i < callees->first[row + 1]; i++) {
		l.row = &rows[callees->arcs[i].callee];
		l.counts = callees->arcs[i].counts;
		write_record(&l, line, out);
	}
}

static void write_details(const struct report *r, const struct row *row, struct strbuf *line,
			  FILE *out)
{
	_cleanup_(detail_done) struct detail d;
	struct csv_line l = { .report = r, .row = row, .detail = &d };

	detail_begin(&d, r->container, row);
	l.counts = d.counts;
	while (detail_next(&d))
		write_record(&l, line, out);
}

void report_csv(const struct report *r, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	size_t i;

	if (!r->view->no_header)
		write_heads(r, out);
	for (i = 0; i < r->container->count; i++) {
		const struct row *row = &r->container->rows[i];

		if (r->calls && !r->calls->is_shown[i])
			continue;
		write_record(&(struct csv_line){ .report = r,
						 .row = row,
						 .counts = container_counts(r->container, row) },
			     &line, out);
		if (r->calls)
			write_arcs(r, i, &line, out);
		write_details(r, row, &line, out);
	}
}
