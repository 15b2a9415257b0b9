/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/report.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "file/build_id.h"
#include "profile/print/internal/csv.h"
#include "profile/print/json_head.h"
#include "profile/print/report_header.h"
#include "profile/rows/line_choice.h"
#include "profile/rows/trend.h"
#include "sfile/manifest.h"

#include <inttypes.h>
#include <string.h>

/* The build-id of an entry's image as text, or NULL if it is not known. */
static const char *build_of(const struct report *r, const struct trend_entry *e,
			    char text[BUILD_ID_TEXT])
{
	const struct manifest_image *m = r->gather->images[e->image].manifest;

	return m && m->version.build_id.size ? build_id_text(&m->version.build_id, text) : NULL;
}

static double percent_of(const struct trend_entry *e)
{
	return container_share(e->part.count, e->part.total);
}

/* How the line of a build was found. */
static const char *found_by(const struct trend_entry *e)
{
	static const char *const names[] = {
		[ROW_BY_TEXT] = "text", [ROW_BY_NEIGHBOUR] = "neighbour", [ROW_BY_NUMBER] = "number"
	};

	return names[e->found];
}

/* --- text --- */

enum { LINE_WIDTH = 8 };

static void add_cell(struct strbuf *line, size_t width, const char *text)
{
	strbuf_adds(line, text);
	strbuf_fill(line, ' ', strlen(text) < width ? width - strlen(text) : 1);
}

static void add_share(const struct report *r, double percent, struct strbuf *line)
{
	char text[16];

	report_percent(r->view->decimals, percent, text);
	add_cell(line, 9, text);
}

static size_t class_number(const struct report *r, const struct class *class)
{
	return (size_t)(class - r->classes->classes);
}

/* Adds the samples, the share with its interval, and how it changed. */
static void add_numbers(const struct report *r, const struct class *class,
			const struct trend_entry *e, struct strbuf *line)
{
	_cleanup_(strbuf_done) struct strbuf change = STRBUF_INIT;
	char count[REPORT_COUNT_MAX];

	report_count(r, class_number(r, class), e->part.count, count);
	add_cell(line, 9, count);
	add_share(r, percent_of(e), line);
	add_share(r, 100 * e->share.low, line);
	add_share(r, 100 * e->share.high, line);
	if (e->is_compared)
		strbuf_addf(&change, "%+.4f%s", e->percent, diff_verdict_mark(e->verdict));
	add_cell(line, 14, strbuf_text(&change));
}

static void print_heads(const struct report *r, const struct class *class, FILE *out)
{
	(void)fprintf(out, "%-8s %%        %% from   %% to     diff %%        ",
		      report_unit(r, class_number(r, class)));
}

static void print_line(struct strbuf *line, FILE *out)
{
	while (line->length && line->text[line->length - 1] == ' ')
		strbuf_cut(line, line->length - 1);
	(void)fprintf(out, "%s\n", strbuf_text(line));
	strbuf_clear(line);
}

/* Adds the line of a build, with a mark if it was found by its number. */
static void add_place(const struct report *r, const struct trend_entry *e, struct strbuf *line)
{
	static const char *const marks[] = {
		[ROW_BY_TEXT] = "", [ROW_BY_NEIGHBOUR] = " *", [ROW_BY_NUMBER] = " #"
	};
	_cleanup_free_ char *text = NULL;

	if (!r->view->rows.line)
		return;
	text = e->place ? xasprintf("%u%s", e->place->line, marks[e->found]) : xstrdup("-");
	add_cell(line, LINE_WIDTH, text);
}

static void print_steps(const struct report *r, const struct trend_table *table, FILE *out)
{
	const struct trend_list *list = &table->steps;
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	size_t i;

	if (!r->view->no_header) {
		print_heads(r, table->class, out);
		(void)fputs("time\n", out);
	}
	for (i = 0; i < list->count; i++) {
		_cleanup_free_ char *span = window_text(&list->entries[i].span);

		add_numbers(r, table->class, &list->entries[i], &line);
		strbuf_adds(&line, span);
		print_line(&line, out);
	}
}

static void print_builds(const struct report *r, const struct trend_table *table, FILE *out)
{
	enum { SHOWN = 16 };
	const struct trend_list *list = &table->builds;
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	size_t i;

	if (!r->view->no_header && list->count) {
		(void)fputc('\n', out);
		print_heads(r, table->class, out);
		(void)fprintf(out, "%-18s%s%simage name\n", "build-id",
			      r->view->rows.line ? "line" : "", r->view->rows.line ? "    " : "");
	}
	for (i = 0; i < list->count; i++) {
		char id[BUILD_ID_TEXT];
		_cleanup_free_ char *cut =
			xasprintf("%.*s", SHOWN, build_of(r, &list->entries[i], id) ?: "-");

		add_numbers(r, table->class, &list->entries[i], &line);
		add_cell(&line, SHOWN + 2, cut);
		add_place(r, &list->entries[i], &line);
		text_visible(&line, report_image(r, list->entries[i].image));
		print_line(&line, out);
	}
}

/* Says how a line was found. */
static void print_line_note(const struct report *r, FILE *out)
{
	const struct line_choice *line = r->view->rows.line;

	if (line)
		(void)fprintf(
			out,
			"Line %s:%u of the newest build that has it; of others, the line with the "
			"same text in the same function\n"
			"*: there is none; the line as far from a line that both have\n"
			"#: not certain, as texts are not known; the line as far from the "
			"function's start\n",
			line->file, line->line);
}

void report_trend_text(const struct report *r, FILE *out)
{
	const struct trend *t = r->trend;
	size_t i;

	if (!r->view->no_header) {
		_cleanup_free_ char *step = steps_length_text(t->step_ms);

		report_header_text(r, out);
		(void)fprintf(
			out,
			"Shares of all samples, in steps of %s and by build, and the "
			"intervals that they are in\n"
			"\"diff %%\" is relative to the line before\n"
			"~: chance alone makes such a difference in more than 1 of 20 cases\n"
			"?: in fewer, but among so many lines some differ this much by chance\n",
			step);
		print_line_note(r, out);
	}
	for (i = 0; i < t->table_count; i++) {
		if (t->table_count > 1)
			(void)fprintf(out, "\n%s\n", t->tables[i].class->name);
		print_steps(r, &t->tables[i], out);
		print_builds(r, &t->tables[i], out);
	}
}

/* --- CSV --- */

static void add_csv_place(const struct trend_entry *e, struct strbuf *line)
{
	if (e->place)
		strbuf_addf(line, ",%u,%s", e->place->line, found_by(e));
	else
		strbuf_adds(line, ",,");
}

static void print_csv_list(const struct report *r, const struct trend_table *table,
			   const struct trend_list *list, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct trend_entry *e = &list->entries[i];
		_cleanup_free_ char *begin = window_time(e->span.begin_ms),
				    *end = window_time(e->span.end_ms);
		bool is_build = e->image != GATHER_NONE;
		char id[BUILD_ID_TEXT];

		strbuf_clear(&line);
		csv_text(&line, table->class->event_text);
		csv_text(&line, begin);
		csv_text(&line, end);
		csv_text(&line, is_build ? gather_image_name(r->gather, e->image, true) : "");
		csv_text(&line, is_build ? build_of(r, e, id) ?: "" : "");
		csv_number(&line, e->part.count);
		csv_number(&line, e->part.total);
		strbuf_addf(&line, ",%.9g,%.9g,%.9g", percent_of(e), 100 * e->share.low,
			    100 * e->share.high);
		if (e->is_compared)
			strbuf_addf(&line, ",%.9g,%s", e->percent, diff_verdict_name(e->verdict));
		else
			strbuf_adds(&line, ",,");
		if (r->view->rows.line)
			add_csv_place(e, &line);
		csv_line_print(r, &line, out);
	}
}

void report_trend_csv(const struct report *r, FILE *out)
{
	const struct trend *t = r->trend;
	size_t i;

	if (!r->view->no_header)
		(void)fputs("event,begin,end,image,build_id,samples,of,percent,percent_from,"
			    "percent_to,diff_percent,verdict",
			    out);
	if (!r->view->no_header)
		(void)fprintf(out, "%s\n", r->view->rows.line ? ",line,found_by" : "");
	for (i = 0; i < t->table_count; i++) {
		print_csv_list(r, &t->tables[i], &t->tables[i].steps, out);
		print_csv_list(r, &t->tables[i], &t->tables[i].builds, out);
	}
}

/* --- JSON --- */

static void write_entry(const struct report *r, const struct trend_entry *e, struct json *j)
{
	_cleanup_free_ char *begin = window_time(e->span.begin_ms),
			    *end = window_time(e->span.end_ms);
	char id[BUILD_ID_TEXT];

	json_line(j);
	json_open(j, NULL, '{');
	if (e->image != GATHER_NONE) {
		json_string(j, "image", gather_image_name(r->gather, e->image, true));
		json_string(j, "build_id", build_of(r, e, id));
	}
	json_string(j, "begin", begin);
	json_string(j, "end", end);
	json_u64(j, "samples", e->part.count);
	json_u64(j, "of", e->part.total);
	json_double(j, "percent", percent_of(e));
	json_double(j, "percent_from", 100 * e->share.low);
	json_double(j, "percent_to", 100 * e->share.high);
	if (e->is_compared) {
		json_double(j, "diff_percent", e->percent);
		json_string(j, "verdict", diff_verdict_name(e->verdict));
	}
	if (e->place) {
		json_string(j, "file", e->place->file);
		json_u64(j, "line", e->place->line);
		json_string(j, "found_by", found_by(e));
	}
	json_close(j, '}');
}

static void write_list(const struct report *r, const char *name, const struct trend_list *list,
		       struct json *j)
{
	size_t i;

	json_open(j, name, '[');
	for (i = 0; i < list->count; i++)
		write_entry(r, &list->entries[i], j);
	json_close(j, ']');
}

void report_trend_json(const struct report *r, FILE *out)
{
	const struct trend *t = r->trend;
	struct json j = JSON_INIT(out);
	size_t i;

	json_open(&j, NULL, '{');
	json_head(r, &j);
	json_open(&j, "trend", '{');
	json_i64(&j, "step_ms", t->step_ms);
	json_open(&j, "tables", '[');
	for (i = 0; i < t->table_count; i++) {
		json_open(&j, NULL, '{');
		json_string(&j, "event", t->tables[i].class->event_text);
		write_list(r, "steps", &t->tables[i].steps, &j);
		write_list(r, "builds", &t->tables[i].builds, &j);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	json_close(&j, '}');
	(void)fputc('\n', out);
}
