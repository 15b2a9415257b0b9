/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/report.h"

#include "base/mem.h"
#include "profile/header.h"
#include "profile/json.h"

#include <string.h>

static void write_number_or_all(struct json *j, const char *name, int64_t value)
{
	if (value == SNAME_ALL)
		json_string(j, name, "all");
	else
		json_i64(j, name, value);
}

static void write_classes(const struct report *r, struct json *j)
{
	size_t i;

	json_open(j, "classes", '[');
	for (i = 0; i < r->classes->count; i++) {
		const struct class *c = &r->classes->classes[i];
		_cleanup_free_ char *text = header_class(r, i);

		json_open(j, NULL, '{');
		json_string(j, "event", c->event);
		json_u64(j, "count", (uint32_t)c->count);
		if (c->unit_mask == SNAME_ALL)
			json_string(j, "unit_mask", "all");
		else
			json_hex(j, "unit_mask", (uint32_t)c->unit_mask);
		write_number_or_all(j, "tgid", c->tgid);
		write_number_or_all(j, "tid", c->tid);
		write_number_or_all(j, "cpu", c->cpu);
		json_string(j, "text", text);
		json_u64(j, "samples", r->container->totals[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_losses(const struct losses *l, struct json *j)
{
	size_t i;

	json_open(j, "losses", '[');
	for (i = 0; i < l->count; i++) {
		json_open(j, NULL, '{');
		json_string(j, "counter", l->list[i].name);
		json_u64(j, "value", l->list[i].value);
		json_string(j, "meaning", l->list[i].meaning);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_counts(const struct report *r, const uint64_t *counts, struct json *j)
{
	size_t i;

	json_open(j, "samples", '[');
	for (i = 0; i < r->container->class_count; i++)
		json_u64(j, NULL, counts[i]);
	json_close(j, ']');
	json_open(j, "percent", '[');
	for (i = 0; i < r->container->class_count; i++)
		json_double(j, NULL, container_percent(r->container, counts[i], i));
	json_close(j, ']');
}

static void write_row(const struct report *r, const struct row *row, struct json *j)
{
	json_line(j);
	json_open(j, NULL, '{');
	json_string(j, "image", report_image_name(r->gather, row->image, true));
	if (row->app != GATHER_NONE)
		json_string(j, "app", report_image_name(r->gather, row->app, true));
	if (row->kind == ROW_SYMBOL) {
		json_string(j, "symbol", row->text);
		if (strcmp(row->text, row->symbol->name))
			json_string(j, "linkage_name", row->symbol->name);
		json_hex(j, "address", row->address);
	} else if (row->kind != ROW_IMAGE) {
		json_string(j, "symbol", NULL);
		json_string(j, "why", row->text);
	}
	write_counts(r, row->counts, j);
	json_close(j, '}');
}

void report_json(const struct report *r, const struct losses *losses, FILE *out)
{
	_cleanup_free_ char *cpu = header_cpu(r);
	struct json j = JSON_INIT(out);
	size_t i;

	json_open(&j, NULL, '{');
	json_string(&j, "format", "opreport-1");
	json_string(&j, "cpu", cpu);
	write_classes(r, &j);
	write_losses(losses, &j);
	json_u64(&j, "skipped_files", r->skipped);
	json_open(&j, "rows", '[');
	for (i = 0; i < r->container->count; i++)
		write_row(r, &r->container->rows[i], &j);
	json_close(&j, ']');
	if (r->container->hidden_rows) {
		json_open(&j, "hidden", '{');
		json_u64(&j, "rows", r->container->hidden_rows);
		write_counts(r, r->container->hidden, &j);
		json_close(&j, '}');
	}
	json_close(&j, '}');
	(void)fputc('\n', out);
}
