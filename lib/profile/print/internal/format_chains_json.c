/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/format_chains.h"

#include "base/json.h"
#include "base/mem.h"
#include "profile/print/internal/chains_lists.h"
#include "profile/print/json_diff.h"
#include "profile/print/json_head.h"
#include "profile/print/losses.h"
#include "profile/print/report.h"
#include "profile/print/report_header.h"
#include "profile/rows/chains.h"
#include "profile/rows/code_kind.h"

#include <stdlib.h>
#include <string.h>

/* Writes the members that name a function, in an object that the caller opens and closes. */
static void write_function(const struct report *r, const struct chains *c, const struct row *row,
			   struct json *j)
{
	json_string(j, "image", gather_image_name(r->gather, row->image, true));
	json_string(j, "symbol", row->kind == ROW_SYMBOL ? row->text : NULL);
	if (row->kind == ROW_SYMBOL)
		json_hex(j, "address", row->address);
	else
		json_string(j, "why", row->text);
	if (row->is_inlined)
		json_bool(j, "inlined", true);
	json_bool(j, "kernel", c->is_kernel[row->image]);
	json_string(j, "kind", code_kind_name(code_kind_of(r->gather, row)));
}

static void write_left_out(const struct chains *c, struct left_out left, struct json *j)
{
	if (!left.count)
		return;
	json_open(j, "hidden", '{');
	json_u64(j, "rows", left.count);
	json_u64(j, "samples", left.samples);
	json_double(j, "percent", container_share(left.samples, c->samples));
	json_close(j, '}');
}

/* Numbers the functions of the chains that are shown, in the order in which they occur, and writes
 * them. Returns their numbers + 1, by id of the row; caller frees. */
static uint32_t *write_functions(const struct report *r, const struct chains *c, struct json *j)
{
	uint32_t *numbers = xcalloc(c->rows.count + 1, sizeof(*numbers));
	struct left_out left = { 0 };
	uint32_t count = 0;
	size_t i, k;

	json_open(j, "functions", '[');
	for (i = 0; i < c->line_count; i++) {
		const struct chains_line *l = &c->lines[i];

		struct chains_samples samples = chains_line_samples(c, l);

		if (!chains_take(r, i, samples, samples.now, &left))
			continue;
		for (k = 0; k < l->count; k++) {
			uint32_t id = c->frames[l->first + k];

			if (numbers[id])
				continue;
			numbers[id] = ++count;
			json_line(j);
			json_open(j, NULL, '{');
			write_function(r, c, chains_frame(c, l, k), j);
			json_close(j, '}');
		}
	}
	json_close(j, ']');
	json_line(j);
	return numbers;
}

static struct json_changed by_line(const struct chains *c, const struct chains_line *line)
{
	return (struct json_changed){ &c->by_line, &c->by_line.rows[line->id], 0 };
}

static void write_chains(const struct report *r, const struct chains *c, struct json *j)
{
	_cleanup_free_ uint32_t *numbers = write_functions(r, c, j);
	struct left_out left = { 0 };
	size_t i, k;

	json_open(j, "chains", '[');
	for (i = 0; i < c->line_count; i++) {
		const struct chains_line *l = &c->lines[i];

		struct chains_samples samples = chains_line_samples(c, l);

		if (!chains_take(r, i, samples, samples.now, &left))
			continue;
		json_line(j);
		json_open(j, NULL, '{');
		json_string(j, "app", gather_image_name(r->gather, l->app, true));
		json_u64(j, "samples", samples.now);
		json_double(j, "percent", container_share(samples.now, c->samples));
		if (r->before)
			json_difference(r, "difference", by_line(c, l), j);
		json_string(j, "end", c->ends[l->end].name);
		json_open(j, "frames", '[');
		for (k = 0; k < l->count; k++)
			json_u64(j, NULL, numbers[c->frames[l->first + k]] - 1);
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
	write_left_out(c, left, j);
}

static void write_stack(const struct report *r, const char *text, struct chains_samples samples,
			void *data)
{
	struct json *j = data;

	json_line(j);
	json_open(j, NULL, '{');
	json_string(j, "stack", text);
	json_u64(j, "samples", samples.now);
	if (r->before)
		json_u64(j, "before", samples.before);
	json_close(j, '}');
}

static void write_folded(const struct report *r, const struct chains *c, struct json *j)
{
	struct chains_rest rest;

	json_open(j, "stacks", '[');
	rest = chains_fold(r, write_stack, j);
	json_close(j, ']');
	write_left_out(c, rest.left, j);
}

/* Writes the counts of a function, and how they changed. */
static void write_child(const struct report *r, const struct child *child, struct json *j)
{
	const struct container *rows = &r->chains->rows;
	const struct row *row = child->row;

	json_u64(j, "children", row->is_gone ? 0 : child->inclusive);
	json_u64(j, "self", row->is_gone ? 0 : child->self);
	if (!r->before)
		return;
	json_difference(r, "children_difference",
			(struct json_changed){ rows, row, CHAINS_INCLUSIVE }, j);
	json_difference(r, "self_difference", (struct json_changed){ rows, row, CHAINS_SELF }, j);
}

static void write_children(const struct report *r, const struct chains *c, struct json *j)
{
	struct left_out left = { 0 };
	size_t i, count;
	_cleanup_free_ struct child *all = chains_children(c, false, &count);

	json_open(j, "functions", '[');
	for (i = 0; i < count; i++) {
		struct chains_samples samples = chains_child_samples(&all[i]);

		if (!chains_take(r, i, samples, samples.now ? all[i].self : 0, &left))
			continue;
		json_line(j);
		json_open(j, NULL, '{');
		write_function(r, c, all[i].row, j);
		write_child(r, &all[i], j);
		json_close(j, '}');
	}
	json_close(j, ']');
	write_left_out(c, left, j);
}

void report_chains_json(const struct report *r, FILE *out)
{
	const struct chains *c = r->chains;
	_cleanup_free_ char *cpu = report_header_cpu(r), *name = chains_event_text(c->event);
	_cleanup_free_ char *event = xasprintf("%s%s", name, strchr(c->event, '.') ?: "");
	struct json j = JSON_INIT(out);

	json_open(&j, NULL, '{');
	json_string(&j, "format", "opreport-chains-2");
	json_string(&j, "cpu", cpu);
	json_sessions(r->gather, "sessions", &j);
	json_other_sessions(r->gather, "other_sessions", &j);
	json_string(&j, "event", event);
	json_u64(&j, "lost", r->losses->samples);
	json_u64(&j, "samples", c->samples);
	if (c->unchosen)
		json_u64(&j, "unchosen_samples", c->unchosen);
	if (c->folded)
		json_u64(&j, "folded_samples", c->folded);
	if (c->of_functions)
		json_u64(&j, "function_samples", c->of_functions);
	if (r->gone)
		json_u64(&j, "gone_files", r->gone);
	json_chain_ends(r, "quality", SIZE_MAX, &j);
	if (r->before)
		json_comparison(r, &j);
	switch (r->view->chains) {
	case CHAINS_NONE:
		break;
	case CHAINS_LIST:
		write_chains(r, c, &j);
		break;
	case CHAINS_FOLDED:
		write_folded(r, c, &j);
		break;
	case CHAINS_CHILDREN:
		write_children(r, c, &j);
		break;
	}
	json_close(&j, '}');
	(void)fputc('\n', out);
}
