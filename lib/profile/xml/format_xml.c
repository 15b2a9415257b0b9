/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/xml/format_xml.h"

#include "profile/print/report.h"

#include "base/map.h"
#include "base/mem.h"
#include "profile/rows/callgraph.h"
#include "profile/rows/row_detail.h"
#include "profile/rows/statistics.h"
#include "profile/xml/xml.h"
#include "profile/xml/xml_head.h"

#include <string.h>

/* A row in the order of the document: by application, its own image first, then by image. */
struct placed {
	const struct row *row;
	size_t app_at, image_at; /* index of the first row of the application, of the image */
	size_t id;		 /* in the symbol table, once written */
	bool is_own;		 /* the application's own image */
};

/* An element of the symbol table; rows of several applications share it. */
struct listed {
	const struct row *row; /* the first one */
	size_t details;	       /* in the detail table, so far */
};

struct document {
	const struct report *report;
	struct xml xml;
	struct placed *rows;
	size_t count;
	struct listed *listed; /* by id */
	size_t listed_count, listed_room;
	struct map ids; /* by the key of a symbol: id + 1 */
};

/* The key of an element of the symbol table: the symbol, or image and kind. */
static uint64_t symbol_key(const struct row *row)
{
	if (row->kind == ROW_SYMBOL)
		return (uintptr_t)row->symbol;
	return (uint64_t)row->image << 8 | (uint64_t)row->kind;
}

static size_t symbol_id(struct document *d, const struct row *row)
{
	uintptr_t id = (uintptr_t)map_get(&d->ids, symbol_key(row));

	if (id)
		return id - 1;
	array_grow(&d->listed, d->listed_count + 1, &d->listed_room);
	d->listed[d->listed_count++] = (struct listed){ .row = row };
	(void)map_set(&d->ids, symbol_key(row), (void *)(uintptr_t)d->listed_count);
	return d->listed_count - 1;
}

static uint32_t app_of(const struct row *row)
{
	return row->app == GATHER_NONE ? row->image : row->app;
}

/* The place of the first row with this key; @at if it is new. */
static size_t first_place(struct map *places, uint64_t key, size_t at)
{
	uintptr_t found = (uintptr_t)map_get(places, key);

	if (!found)
		(void)map_set(places, key, (void *)(uintptr_t)(at + 1));
	return found ? found - 1 : at;
}

static int compare_placed(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;

	if (a->app_at != b->app_at)
		return (a->app_at > b->app_at) - (a->app_at < b->app_at);
	if (a->is_own != b->is_own)
		return b->is_own - a->is_own;
	if (a->image_at != b->image_at)
		return (a->image_at > b->image_at) - (a->image_at < b->image_at);
	return (a->row > b->row) - (a->row < b->row);
}

static void place_rows(struct document *d)
{
	const struct container *c = d->report->container;
	struct map apps = MAP_INIT, images = MAP_INIT;
	size_t i;

	d->rows = xcalloc(c->count + 1, sizeof(*d->rows));
	for (i = 0; i < c->count; i++) {
		const struct row *row = &c->rows[i];
		uint64_t app = app_of(row);

		if (d->report->calls && !d->report->calls->is_shown[i])
			continue;
		d->rows[d->count++] = (struct placed){
			.row = row,
			.app_at = first_place(&apps, app, i),
			.image_at = first_place(&images, app << 32 | row->image, i),
			.is_own = row->image == app,
		};
	}
	if (d->count)
		qsort(d->rows, d->count, sizeof(*d->rows), compare_placed);
	map_done(&apps);
	map_done(&images);
}

static void write_number(struct xml *x, const char *name, double value)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%.9g", value);
	xml_string(x, name, text);
}

/* Writes the 95 % confidence interval of a share, in percent. */
static void write_interval(struct xml *x, struct statistics_interval interval)
{
	write_number(x, "percentfrom", 100 * interval.low);
	write_number(x, "percentto", 100 * interval.high);
}

static struct statistics_interval interval_of(const struct container *c, const struct row *row,
					      const uint64_t *counts, size_t class)
{
	return row ? container_row_interval(c, row, NULL, class)
		   : container_interval(c, class, counts[class], c->totals[class]);
}

/* Writes how the count of a row differs from that in the first of two profiles. */
static void write_difference(struct document *d, const struct row *row, size_t class)
{
	const struct report *r = d->report;
	const struct container *c = r->container;
	struct xml *x = &d->xml;
	enum diff_verdict verdict;
	double percent;
	enum diff_change change =
		diff_of_row(c, row, class, r->view->compare_by, &percent, &verdict);

	write_number(x, "points", report_points(c, row, class));
	xml_string(x, "change", diff_change_name(change));
	if (change == DIFF_CHANGED)
		write_number(x, "diffpercent", percent);
	xml_string(x, "verdict", diff_verdict_name(verdict));
}

/* Counts, and those in the profile that this one is compared with, or NULL. */
struct counts {
	const uint64_t *now, *before;
};

/* Writes counts, which are those of @row unless that is NULL. */
static void write_both(struct document *d, const struct row *row, struct counts counts)
{
	struct xml *x = &d->xml;
	size_t i;

	for (i = 0; i < d->report->container->class_count; i++) {
		uint64_t before = counts.before ? counts.before[i] : 0;
		char name[24];

		if (!counts.now[i] && !before)
			continue;
		(void)snprintf(name, sizeof(name), "c%zu", i);
		xml_open(x, "count");
		xml_string(x, "class", name);
		if (d->report->view->errors)
			write_interval(x, interval_of(d->report->container, row, counts.now, i));
		if (d->report->before)
			xml_u64(x, "before", before);
		if (d->report->before && row)
			write_difference(d, row, i);
		xml_text_u64(x, counts.now[i]);
		xml_close(x, "count");
	}
}

/* The same of counts that are not compared. */
static void write_counts(struct document *d, const uint64_t *counts)
{
	write_both(d, NULL, (struct counts){ counts, NULL });
}

static void write_row_counts(struct document *d, const struct row *row)
{
	write_both(d, row,
		   (struct counts){ container_counts(d->report->container, row), row->before });
}

/* Writes the sums of the rows from @from up to @to (exclusive). */
static void write_sums(struct document *d, size_t from, size_t to)
{
	const struct container *c = d->report->container;
	_cleanup_free_ uint64_t *sums = xcalloc(c->class_count, sizeof(*sums));
	_cleanup_free_ uint64_t *before = xcalloc(c->class_count, sizeof(*before));
	size_t i, j;

	if (to == from + 1 && d->rows[from].row->kind == ROW_IMAGE) {
		write_row_counts(d, d->rows[from].row);
		return;
	}
	for (i = from; i < to; i++) {
		const struct row *row = d->rows[i].row;

		for (j = 0; j < c->class_count; j++) {
			sums[j] += container_counts(c, row)[j];
			before[j] += row->before ? row->before[j] : 0;
		}
	}
	write_both(d, NULL, (struct counts){ sums, before });
}

/* Writes an end of an arc; @counts: one per class. */
static void write_arc_end(struct document *d, size_t row, bool is_self, const uint64_t *counts)
{
	struct xml *x = &d->xml;

	xml_open(x, "symbol");
	xml_u64(x, "idref", symbol_id(d, &d->report->container->rows[row]));
	xml_string(x, "self", is_self ? "true" : NULL);
	write_counts(d, counts);
	xml_close(x, "symbol");
}

/* Writes the callers and callees of a row, with its own samples among the latter. */
static void write_arcs(struct document *d, const struct row *row)
{
	const struct callgraph *calls = d->report->calls;
	size_t index = (size_t)(row - d->report->container->rows), i;
	struct xml *x = &d->xml;

	xml_open(x, "callers");
	for (i = calls->callers.first[index]; i < calls->callers.first[index + 1]; i++)
		write_arc_end(d, calls->callers.arcs[i].caller, false,
			      calls->callers.arcs[i].counts);
	xml_close(x, "callers");
	xml_open(x, "callees");
	write_arc_end(d, index, true, row->counts);
	for (i = calls->callees.first[index]; i < calls->callees.first[index + 1]; i++)
		write_arc_end(d, calls->callees.arcs[i].callee, false,
			      calls->callees.arcs[i].counts);
	xml_close(x, "callees");
}

static void write_symbol(struct document *d, struct placed *placed)
{
	const struct row *row = placed->row;
	size_t id = symbol_id(d, row), details = detail_count(row);
	struct xml *x = &d->xml;

	placed->id = id;
	xml_open(x, "symbol");
	xml_u64(x, "idref", id);
	if (details) {
		xml_u64(x, "detaillo", d->listed[id].details);
		d->listed[id].details += details;
		xml_u64(x, "detailhi", d->listed[id].details - 1);
	}
	write_row_counts(d, row);
	if (d->report->calls)
		write_arcs(d, row);
	xml_close(x, "symbol");
}

static void write_symbols(struct document *d, size_t from, size_t to)
{
	for (; from < to; from++)
		if (d->rows[from].row->kind != ROW_IMAGE)
			write_symbol(d, &d->rows[from]);
}

/* The end of the rows from @from on of one image of one application. */
static size_t image_end(const struct document *d, size_t from)
{
	size_t i = from;

	while (i < d->count && d->rows[i].app_at == d->rows[from].app_at &&
	       d->rows[i].image_at == d->rows[from].image_at)
		i++;
	return i;
}

static void open_image(struct document *d, const char *element, uint32_t image)
{
	xml_open(&d->xml, element);
	xml_string(&d->xml, "name", gather_image_name(d->report->gather, image, true));
}

/* Writes an application from row @from on: its own symbols, then those of the modules; returns its
 * end. */
static size_t write_binary(struct document *d, size_t from)
{
	size_t end = from, i = from;

	while (end < d->count && d->rows[end].app_at == d->rows[from].app_at)
		end++;
	open_image(d, "binary", app_of(d->rows[from].row));
	if (d->rows[from].is_own) {
		i = image_end(d, from);
		write_sums(d, from, i);
		write_symbols(d, from, i);
	}
	while (i < end) {
		size_t next = image_end(d, i);

		open_image(d, "module", d->rows[i].row->image);
		write_sums(d, i, next);
		write_symbols(d, i, next);
		xml_close(&d->xml, "module");
		i = next;
	}
	xml_close(&d->xml, "binary");
	return end;
}

static void write_place(struct xml *x, const struct row_place *place)
{
	if (!place->file)
		return;
	xml_string(x, "file", place->file);
	xml_u64(x, "line", place->line);
}

static void write_symbol_table(struct document *d)
{
	struct xml *x = &d->xml;
	size_t i;

	if (!d->listed_count)
		return;
	xml_open(x, "symboltable");
	for (i = 0; i < d->listed_count; i++) {
		const struct row *row = d->listed[i].row;

		xml_open(x, "symboldata");
		xml_u64(x, "id", i);
		xml_string(x, "name", row->text);
		if (row->kind != ROW_SYMBOL)
			xml_string(x, "unnamed", "true");
		else if (strcmp(row->text, row->symbol->name))
			xml_string(x, "linkagename", row->symbol->name);
		xml_string(x, "image", gather_image_name(d->report->gather, row->image, true));
		if (row->is_inlined)
			xml_string(x, "inlined", "true");
		xml_hex(x, "startingaddr", row->address);
		write_place(x, &row->place);
		if (row->kind == ROW_SYMBOL && row->symbol->size)
			xml_u64(x, "codelength", row->symbol->size);
		xml_close(x, "symboldata");
	}
	xml_close(x, "symboltable");
}

/* Writes the addresses of one row of symbol @id, numbered from *@number on. */
static void write_row_details(struct document *d, const struct row *row, size_t *number)
{
	_cleanup_(detail_done) struct detail detail;
	struct xml *x = &d->xml;

	detail_begin(&detail, d->report->container, row);
	while (detail_next(&detail)) {
		xml_open(x, "detaildata");
		xml_u64(x, "id", (*number)++);
		xml_hex(x, "vmaoffset", detail.address);
		write_place(x, &detail.place);
		write_counts(d, detail.counts);
		xml_close(x, "detaildata");
	}
}

/* Orders rows of one symbol by id. */
static int compare_ids(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;

	return a->id != b->id ? (a->id > b->id) - (a->id < b->id) : compare_placed(a, b);
}

static void write_detail_table(struct document *d)
{
	struct xml *x = &d->xml;
	size_t i = 0;

	if (!d->report->view->rows.details || !d->count)
		return;
	qsort(d->rows, d->count, sizeof(*d->rows), compare_ids);
	xml_open(x, "detailtable");
	while (i < d->count) {
		size_t id = d->rows[i].id, number = 0;

		xml_open(x, "symboldetails");
		xml_u64(x, "id", id);
		for (; i < d->count && d->rows[i].id == id; i++)
			write_row_details(d, d->rows[i].row, &number);
		xml_close(x, "symboldetails");
	}
	xml_close(x, "detailtable");
}

/* Writes the code of the symbols, if it can be read. */
static void write_bytes_table(struct document *d)
{
	struct xml *x = &d->xml;
	size_t i;

	if (!d->report->view->rows.details)
		return;
	xml_open(x, "bytestable");
	for (i = 0; i < d->listed_count; i++) {
		const struct row *row = d->listed[i].row;

		if (row->kind != ROW_SYMBOL || !row->symbol->code)
			continue;
		xml_open(x, "bytes");
		xml_u64(x, "id", i);
		xml_text_bytes(x, row->symbol->code, row->symbol->size);
		xml_close(x, "bytes");
	}
	xml_close(x, "bytestable");
}

static void write_left_out(struct document *d, const char *by, size_t rows, const uint64_t *counts)
{
	struct xml *x = &d->xml;

	if (!rows)
		return;
	xml_open(x, "leftout");
	xml_string(x, "by", by);
	xml_u64(x, "rows", rows);
	write_counts(d, counts);
	xml_close(x, "leftout");
}

void report_xml(const struct report *r, FILE *out)
{
	struct document d = { .report = r, .xml = XML_INIT(out) };
	const struct container *c = r->container;
	size_t i = 0;

	place_rows(&d);
	xml_head(&d.xml, r);
	while (i < d.count)
		i = write_binary(&d, i);
	write_left_out(&d, "threshold", c->hidden_rows, c->hidden);
	write_left_out(&d, "top", c->beyond_rows, c->beyond);
	write_left_out(&d, "symbols", c->unchosen_rows, c->unchosen);
	write_symbol_table(&d);
	write_detail_table(&d);
	write_bytes_table(&d);
	xml_close(&d.xml, "profile");
	free(d.rows);
	free(d.listed);
	map_done(&d.ids);
}
