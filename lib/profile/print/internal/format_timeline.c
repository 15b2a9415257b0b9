/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/report.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/print/internal/csv.h"
#include "profile/print/json_head.h"
#include "profile/print/internal/timeline_bars.h"
#include "profile/print/report_header.h"
#include "profile/select/cgroup_label.h"

#include <inttypes.h>
#include <string.h>

/* Whether the rows are of symbols, with images and applications. */
static bool has_symbols(const struct report *r)
{
	return r->timeline->by == TIMELINE_SYMBOL;
}

/* The number of a class in the report. */
static size_t class_number(const struct report *r, const struct class *class)
{
	return (size_t)(class - r->classes->classes);
}

/* The name of a row that is not a symbol; borrowed. */
static const char *thing_name(const struct report *r, const struct timeline_row *row, bool is_long)
{
	switch (r->timeline->by) {
	case TIMELINE_HOST:
		return timeline_class_name(r->timeline->by, row->class) ?: "(not known)";
	case TIMELINE_CGROUP:
	case TIMELINE_COMM:
		return timeline_class_name(r->timeline->by, row->class) ?: "(not separated)";
	case TIMELINE_EVENT:
		return row->class->name;
	case TIMELINE_NONE:
	case TIMELINE_IMAGE:
	case TIMELINE_SYMBOL:
	case TIMELINE_APPLICATION:
	case TIMELINE_COUNT_:
		break;
	}
	return gather_image_name(r->gather, row->row->image, is_long);
}

/* --- text --- */

enum { NAME_MOST = 20, ROOM_LEAST = 12, COUNT_MAX = REPORT_COUNT_MAX + 3 };

/* A table as text. */
struct text {
	const struct report *r;
	const struct timeline_table *table;
	unsigned int image_width, app_width; /* 0: no such column */
	unsigned int count_width;
	bool mixes_units; /* rows of time are among rows of samples */
	struct strbuf line;
	FILE *out;
};

static void measure(const struct text *t, uint32_t image, unsigned int *width)
{
	unsigned int here = text_width(report_image(t->r, image));

	here = MIN(here, (unsigned int)NAME_MOST);
	*width = MAX(*width, here);
}

/* The number of the class whose unit the counts of the row have; NULL: those of all rows. */
static size_t unit_class(const struct text *t, const struct timeline_row *row)
{
	const struct class *class = row && !t->table->class ? row->class : t->table->class;

	if (!class && t->table->count)
		class = t->table->rows[0].class;
	return class ? class_number(t->r, class) : 0;
}

/* Writes a count, with its unit if that is not the column's. */
static void write_count(const struct text *t, const struct timeline_row *row, uint64_t count,
			char text[COUNT_MAX])
{
	size_t class = unit_class(t, row);

	report_count(t->r, class, count, text);
	if (t->mixes_units && report_is_time(t->r, class))
		(void)strcat(text, " ms");
}

/* Finds the width of the column of counts, and whether they have several units. */
static void measure_counts(struct text *t)
{
	char text[COUNT_MAX];
	size_t i;

	t->count_width = 8;
	for (i = 1; i < t->table->count; i++)
		t->mixes_units |= report_is_time(t->r, unit_class(t, &t->table->rows[i])) !=
				  report_is_time(t->r, unit_class(t, &t->table->rows[0]));
	for (i = 0; i < t->table->count; i++) {
		write_count(t, &t->table->rows[i], t->table->rows[i].sum, text);
		t->count_width = MAX(t->count_width, (unsigned int)strlen(text));
	}
	if (t->table->totals) {
		write_count(t, NULL, t->table->total, text);
		t->count_width = MAX(t->count_width, (unsigned int)strlen(text));
	}
}

/* Finds the widths of the columns of names before that of symbols. */
static void measure_names(struct text *t)
{
	bool has_apps = report_has_apps(t->r);
	size_t i;

	if (!has_symbols(t->r))
		return;
	t->image_width = text_width("image name");
	t->app_width = has_apps ? text_width("app name") : 0;
	for (i = 0; i < t->table->count; i++) {
		const struct row *row = t->table->rows[i].row;

		measure(t, row->image, &t->image_width);
		if (has_apps)
			measure(t, row->app, &t->app_width);
	}
}

/* Adds a name in a column. */
static void add_column(struct text *t, const char *name, unsigned int width)
{
	size_t from = t->line.length;
	unsigned int used;

	text_visible(&t->line, name);
	text_cut(&t->line, from, width);
	for (used = text_width(t->line.text + from); used < width + 1; used++)
		strbuf_adds(&t->line, " ");
}

static void print_line(struct text *t)
{
	while (t->line.length && t->line.text[t->line.length - 1] == ' ')
		strbuf_cut(&t->line, t->line.length - 1);
	(void)fprintf(t->out, "%s\n", strbuf_text(&t->line));
	strbuf_clear(&t->line);
}

static void print_head(struct text *t)
{
	const char *unit = t->mixes_units ? "samples" : report_unit(t->r, unit_class(t, NULL));

	strbuf_addf(&t->line, "%-*s ", (int)t->count_width, unit);
	if (t->table->totals)
		strbuf_adds(&t->line, "%        ");
	strbuf_adds(&t->line, "  peak/s  ");
	timeline_axis(t->r->timeline, &t->line);
	strbuf_adds(&t->line, "  ");
	if (has_symbols(t->r)) {
		add_column(t, "image name", t->image_width);
		if (t->app_width)
			add_column(t, "app name", t->app_width);
		strbuf_adds(&t->line, "symbol name");
	} else {
		strbuf_adds(&t->line, timeline_by_name(t->r->timeline->by));
	}
	print_line(t);
}

/* Adds the numbers and the bars; @row is NULL for the sums of all. */
static void add_counts(struct text *t, const struct timeline_row *row, const uint64_t *counts,
		       uint64_t sum)
{
	const struct timeline *timeline = t->r->timeline;
	double peak = timeline_peak(timeline, counts);
	char percent[16], count[COUNT_MAX];

	write_count(t, row, sum, count);
	strbuf_addf(&t->line, "%-*s ", (int)t->count_width, count);
	if (t->table->totals) {
		report_percent(t->r->view->decimals, container_share(sum, t->table->total),
			       percent);
		strbuf_addf(&t->line, "%s  ", percent);
	}
	strbuf_addf(&t->line, "%8.1f  ",
		    report_is_time(t->r, unit_class(t, row)) ? peak / 1000 : peak);
	timeline_bars(timeline, counts, t->r->view->utf8, &t->line);
	strbuf_adds(&t->line, "  ");
}

/* The room for the last name in the line; 0: it is not cut. */
static unsigned int room_left(const struct text *t)
{
	unsigned int used = text_width(strbuf_text(&t->line)), width = t->r->view->width;

	if (!width)
		return 0;
	return width > used + ROOM_LEAST ? width - used : ROOM_LEAST;
}

/* Adds the name of a row that is not a symbol; of a container's cgroup what it is called. */
static void add_thing(struct text *t, const struct timeline_row *row)
{
	const struct report *r = t->r;
	const char *cgroup = r->timeline->by == TIMELINE_CGROUP ? row->class->task.cgroup : NULL;
	_cleanup_free_ char *label = cgroup && !r->view->long_names
					     ? cgroup_label(r->gather->session_names, cgroup)
					     : NULL;

	text_visible(&t->line, label ?: thing_name(r, row, r->view->long_names));
}

static void print_row(struct text *t, const struct timeline_row *row)
{
	unsigned int room;
	size_t from;

	add_counts(t, row, row->counts, row->sum);
	if (has_symbols(t->r)) {
		add_column(t, report_image(t->r, row->row->image), t->image_width);
		if (t->app_width)
			add_column(t, report_image(t->r, row->row->app), t->app_width);
	}
	room = room_left(t);
	from = t->line.length;
	if (has_symbols(t->r)) {
		report_add_name(&t->line, row->row, room);
	} else {
		add_thing(t, row);
		if (room)
			text_cut(&t->line, from, room);
	}
	print_line(t);
}

static void print_rest(const struct text *t, const struct timeline_rest *rest, const char *why)
{
	char percent[16], count[REPORT_COUNT_MAX + 8];

	if (!rest->rows)
		return;
	report_percent(t->r->view->decimals, container_share(rest->sum, t->table->total), percent);
	(void)fprintf(t->out, "(%zu row%s %s not shown", rest->rows, text_plural(rest->rows), why);
	report_count_noun(t->r, unit_class(t, NULL), rest->sum, count);
	if (t->table->class)
		(void)fprintf(t->out, ": %s", count);
	if (t->table->totals)
		(void)fprintf(t->out, ", %s %%", percent + strspn(percent, " "));
	(void)fputs(rest == &t->table->beyond ? report_all_hint(t->r->view) : ")\n", t->out);
}

static void print_table(const struct report *r, const struct timeline_table *table, FILE *out)
{
	struct text t = { .r = r, .table = table, .line = STRBUF_INIT, .out = out };
	char why[64];
	size_t i;

	measure_names(&t);
	measure_counts(&t);
	if (!r->view->no_header)
		print_head(&t);
	if (table->totals) {
		add_counts(&t, NULL, table->totals, table->total);
		strbuf_adds(&t.line, "(all)");
		print_line(&t);
	}
	for (i = 0; i < table->count; i++)
		print_row(&t, &table->rows[i]);
	(void)snprintf(why, sizeof(why), "below %g %%", r->view->threshold);
	print_rest(&t, &table->hidden, why);
	(void)snprintf(why, sizeof(why), "beyond the first %" PRIu64, r->view->top);
	print_rest(&t, &table->beyond, why);
	strbuf_done(&t.line);
}

/* The unit of a peak per second. */
static const char *peak_unit(const struct report *r)
{
	size_t i, times = 0;

	for (i = 0; i < r->classes->count; i++)
		times += report_is_time(r, i);
	return !times ? "samples" : times < r->classes->count ? "samples or ms" : "ms";
}

/* Prints what the columns are. */
static void print_columns(const struct report *r, FILE *out)
{
	const struct timeline *t = r->timeline;
	_cleanup_free_ char *step = steps_length_text(t->steps.length_ms);
	bool has_gap = false;
	uint32_t i;

	for (i = 0; i < t->steps.count; i++)
		has_gap |= !t->cover[i].is_recorded;
	(void)fprintf(out,
		      "Columns: %s each; a bar is relative to the row's peak, in %s per second",
		      step, peak_unit(r));
	if (has_gap)
		(void)fprintf(out, "; %s: nothing recorded", timeline_gap(r->view->utf8));
	(void)fputc('\n', out);
}

void report_timeline_text(const struct report *r, FILE *out)
{
	const struct timeline *t = r->timeline;
	size_t i;

	if (!r->view->no_header) {
		report_header_text(r, out);
		print_columns(r, out);
	}
	for (i = 0; i < t->table_count; i++) {
		const struct class *class = t->tables[i].class;

		if (t->table_count > 1) {
			_cleanup_free_ char *text = report_header_class(r, class_number(r, class));

			(void)fprintf(out, "\n%s\n", text);
		}
		print_table(r, &t->tables[i], out);
	}
}

/* --- CSV --- */

static void add_csv_heads(const struct report *r, struct strbuf *line)
{
	static const char *const of_symbols[] = { "image", "app", "symbol", "linkage_name" };
	const struct timeline *t = r->timeline;
	size_t i;

	csv_text(line, "event");
	for (i = 0; i < ARRAY_SIZE(of_symbols) && has_symbols(r); i++)
		csv_text(line, of_symbols[i]);
	if (!has_symbols(r) && t->by != TIMELINE_EVENT)
		csv_text(line, timeline_by_name(t->by));
	csv_text(line, "samples");
	for (i = 0; i < t->steps.count; i++) {
		_cleanup_free_ char *begin =
			window_time(steps_window(&t->steps, (uint32_t)i).begin_ms);

		csv_text(line, begin);
	}
}

static void add_csv_row(const struct report *r, const struct timeline_row *row, struct strbuf *line)
{
	const struct timeline *t = r->timeline;
	const struct row *of = row->row;
	size_t i;

	csv_text(line, row->class->event_text);
	if (has_symbols(r)) {
		csv_text(line, gather_image_name(r->gather, of->image, true));
		csv_text(line,
			 of->app == GATHER_NONE ? "" : gather_image_name(r->gather, of->app, true));
		csv_text(line, of->text);
		csv_text(line, of->kind == ROW_SYMBOL ? of->symbol->name : "");
	} else if (t->by != TIMELINE_EVENT) {
		csv_text(line, thing_name(r, row, true));
	}
	csv_number(line, row->sum);
	for (i = 0; i < t->steps.count; i++)
		if (t->cover[i].is_counted)
			csv_number(line, row->counts[i]);
		else
			csv_text(line, "");
}

void report_timeline_csv(const struct report *r, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	size_t i, k;

	if (!r->view->no_header) {
		add_csv_heads(r, &line);
		csv_line_print(r, &line, out);
	}
	for (i = 0; i < r->timeline->table_count; i++)
		for (k = 0; k < r->timeline->tables[i].count; k++) {
			strbuf_clear(&line);
			add_csv_row(r, &r->timeline->tables[i].rows[k], &line);
			csv_line_print(r, &line, out);
		}
}

/* --- JSON --- */

static void write_columns(const struct timeline *t, struct json *j)
{
	uint32_t i;

	json_open(j, "columns", '[');
	for (i = 0; i < t->steps.count; i++) {
		struct window w = steps_window(&t->steps, i);
		_cleanup_free_ char *begin = window_time(w.begin_ms), *end = window_time(w.end_ms);

		json_line(j);
		json_open(j, NULL, '{');
		json_string(j, "begin", begin);
		json_string(j, "end", end);
		json_bool(j, "recorded", t->cover[i].is_recorded);
		json_i64(j, "covered_ms", t->cover[i].covered_ms);
		json_u64(j, "samples", t->cover[i].samples);
		json_u64(j, "taken", t->cover[i].taken);
		json_u64(j, "lost", t->cover[i].lost);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_counts(const char *name, const uint64_t *counts, uint32_t count, struct json *j)
{
	uint32_t i;

	json_open(j, name, '[');
	for (i = 0; i < count; i++)
		json_u64(j, NULL, counts[i]);
	json_close(j, ']');
}

static void write_row(const struct report *r, const struct timeline_row *row, struct json *j)
{
	const struct row *of = row->row;

	json_line(j);
	json_open(j, NULL, '{');
	if (has_symbols(r)) {
		json_string(j, "image", gather_image_name(r->gather, of->image, true));
		if (of->app != GATHER_NONE)
			json_string(j, "app", gather_image_name(r->gather, of->app, true));
		json_string(j, "symbol", of->kind == ROW_SYMBOL ? of->text : NULL);
		if (of->kind != ROW_SYMBOL)
			json_string(j, "why", of->text);
	} else {
		json_string(j, timeline_by_name(r->timeline->by), thing_name(r, row, true));
	}
	json_u64(j, "samples", row->sum);
	write_counts("counts", row->counts, r->timeline->steps.count, j);
	json_close(j, '}');
}

static void write_rest(const struct timeline_rest *rest, const char *name, struct json *j)
{
	if (!rest->rows)
		return;
	json_open(j, name, '{');
	json_u64(j, "rows", rest->rows);
	json_u64(j, "samples", rest->sum);
	json_close(j, '}');
}

static void write_table(const struct report *r, const struct timeline_table *table, struct json *j)
{
	size_t i;

	json_open(j, NULL, '{');
	if (table->class)
		json_string(j, "event", table->class->event_text);
	if (table->totals) {
		json_u64(j, "samples", table->total);
		write_counts("totals", table->totals, r->timeline->steps.count, j);
	}
	json_open(j, "rows", '[');
	for (i = 0; i < table->count; i++)
		write_row(r, &table->rows[i], j);
	json_close(j, ']');
	write_rest(&table->hidden, "hidden", j);
	write_rest(&table->beyond, "beyond", j);
	json_close(j, '}');
}

void report_timeline_json(const struct report *r, FILE *out)
{
	const struct timeline *t = r->timeline;
	struct json j = JSON_INIT(out);
	size_t i;

	json_open(&j, NULL, '{');
	json_head(r, &j);
	json_open(&j, "timeline", '{');
	json_string(&j, "by", timeline_by_name(t->by));
	json_i64(&j, "step_ms", t->steps.length_ms);
	write_columns(t, &j);
	json_open(&j, "tables", '[');
	for (i = 0; i < t->table_count; i++)
		write_table(r, &t->tables[i], &j);
	json_close(&j, ']');
	json_close(&j, '}');
	json_close(&j, '}');
	(void)fputc('\n', out);
}
