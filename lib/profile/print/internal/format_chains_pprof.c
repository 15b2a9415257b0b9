/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call chains as a profile for pprof: proto/profile.proto of github.com/google/pprof, in gzip. */
#include "profile/print/format_chains.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "file/build_id.h"
#include "profile/print/gzip.h"
#include "profile/print/internal/chains_lists.h"
#include "profile/print/internal/pprof_labels.h"
#include "profile/print/report.h"
#include "profile/rows/chains.h"
#include "sfile/manifest.h"
#include "sfile/setup.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of fields. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	TYPE_NAME = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATIONS = 1, /* the innermost first */
	SAMPLE_VALUES = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_TEXT = 2,
	LABEL_NUMBER = 3,
	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_LINKAGE_NAME = 3,
};

enum { NS_PER_US = 1000, NS_PER_S = 1000000000, NS_PER_MS = 1000000 };

/* Later times, in seconds, are damage: they are no nanoseconds in 64 bits. */
#define TIME_MOST_S (UINT64_C(1) << 33)

struct pprof {
	const struct report *report;
	uint64_t hz; /* samples per second of CPU time; 0: the event is not the clock */
	struct strbuf out, strings;
	struct map text_by_hash; /* to index + 1 */
	char **texts;
	size_t text_count, text_room;
	/* Which functions and images are in samples. The functions are the rows, then the
	 * applications by their images, then the reasons why chains end, numbered from 1. */
	bool *has_function, *has_image;
	struct pprof_labels labels;
};

static void pprof_done(struct pprof *p)
{
	size_t i;

	for (i = 0; i < p->text_count; i++)
		free(p->texts[i]);
	free(p->texts);
	map_done(&p->text_by_hash);
	strbuf_done(&p->out);
	strbuf_done(&p->strings);
	free(p->has_function);
	free(p->has_image);
	pprof_labels_done(&p->labels);
}

/* --- messages --- */

static void put_number(struct strbuf *message, unsigned int field, uint64_t value)
{
	strbuf_add_uleb(message, field << 3);
	strbuf_add_uleb(message, value);
}

static void put_bytes(struct strbuf *message, unsigned int field, const char *bytes, size_t size)
{
	strbuf_add_uleb(message, field << 3 | 2);
	strbuf_add_uleb(message, size);
	strbuf_add(message, bytes, size);
}

static void put_message(struct strbuf *message, unsigned int field, const struct strbuf *inner)
{
	put_bytes(message, field, strbuf_text(inner), inner->length);
}

/* The number of @text in the table of strings, whose first is "". */
static uint64_t number_of(struct pprof *p, const char *text)
{
	uint64_t hash = hash_bytes(text, strlen(text));
	uintptr_t known;

	map_for_each_of(&p->text_by_hash, hash, known)
	{
		if (!strcmp(p->texts[known - 1], text))
			return known - 1;
	}
	array_grow(&p->texts, p->text_count + 1, &p->text_room);
	p->texts[p->text_count++] = xstrdup(text);
	map_add(&p->text_by_hash, hash, (void *)(uintptr_t)p->text_count);
	put_bytes(&p->strings, PROFILE_STRING, text, strlen(text));
	return p->text_count - 1;
}

/* The same of a name, as people may see it. */
static uint64_t number_of_name(struct pprof *p, const char *name)
{
	_cleanup_(strbuf_done) struct strbuf shown = STRBUF_INIT;

	text_visible(&shown, name);
	return number_of(p, strbuf_text(&shown));
}

/* --- samples --- */

static void put_type(struct pprof *p, unsigned int field, const char *name, const char *unit)
{
	_cleanup_(strbuf_done) struct strbuf type = STRBUF_INIT;

	put_number(&type, TYPE_NAME, number_of(p, name));
	put_number(&type, TYPE_UNIT, number_of(p, unit));
	put_message(&p->out, field, &type);
}

static void put_types(struct pprof *p)
{
	if (report_is_time(p->report, 0)) {
		put_type(p, PROFILE_SAMPLE_TYPE, "delay", "nanoseconds");
		return;
	}
	put_type(p, PROFILE_SAMPLE_TYPE, "samples", "count");
	if (!p->hz)
		return;
	put_type(p, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
	put_type(p, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
	put_number(&p->out, PROFILE_PERIOD, NS_PER_S / p->hz);
}

static void add_values(const struct pprof *p, uint64_t samples, struct strbuf *values)
{
	if (report_is_time(p->report, 0)) {
		strbuf_add_uleb(values, samples * NS_PER_US);
		return;
	}
	strbuf_add_uleb(values, samples);
	if (p->hz)
		strbuf_add_uleb(values,
				(uint64_t)((double)samples * NS_PER_S / (double)p->hz + 0.5));
}

static size_t function_of_app(const struct chains *c, uint32_t app)
{
	return c->rows.count + app;
}

static size_t function_of_end(const struct chains *c, uint32_t end)
{
	return c->rows.count + c->gather->image_count + end;
}

/* Adds a place, which is a whole function. */
static void add_place(struct pprof *p, size_t function, struct strbuf *places)
{
	p->has_function[function] = true;
	strbuf_add_uleb(places, function + 1);
}

static void put_label(struct pprof *p, const struct pprof_label *l, struct strbuf *sample)
{
	_cleanup_(strbuf_done) struct strbuf label = STRBUF_INIT;

	put_number(&label, LABEL_KEY, number_of(p, l->key));
	if (l->text)
		put_number(&label, LABEL_TEXT, number_of_name(p, l->text));
	else
		put_number(&label, LABEL_NUMBER, (uint64_t)l->number);
	put_message(sample, SAMPLE_LABEL, &label);
}

/* Prints samples of a line, those of @part unless that is NULL. */
static void put_sample(struct pprof *p, const struct chains_line *line,
		       const struct chains_moment *part, uint64_t samples)
{
	struct pprof_label labels[PPROF_LABELS_MOST];
	const size_t count = part ? pprof_labels_find(&p->labels, part, labels) : 0;
	_cleanup_(strbuf_done) struct strbuf places = STRBUF_INIT, values = STRBUF_INIT,
					     sample = STRBUF_INIT;
	const struct chains *c = p->report->chains;
	size_t i;

	for (i = 0; i < line->count; i++)
		add_place(p, c->frames[line->first + i], &places);
	if (c->ends[line->end].mark)
		add_place(p, function_of_end(c, line->end), &places);
	add_place(p, function_of_app(c, line->app), &places);
	add_values(p, samples, &values);
	put_message(&sample, SAMPLE_LOCATIONS, &places);
	put_message(&sample, SAMPLE_VALUES, &values);
	for (i = 0; i < count; i++)
		put_label(p, &labels[i], &sample);
	put_message(&p->out, PROFILE_SAMPLE, &sample);
}

/* By line, then by task and source. */
static int compare_parts(const void *a, const void *b)
{
	const struct chains_moment *x = a, *y = b;

	if (x->line != y->line)
		return (x->line > y->line) - (x->line < y->line);
	if (x->task != y->task)
		return (x->task > y->task) - (x->task < y->task);
	return (x->step > y->step) - (x->step < y->step);
}

/* The samples of each line and task, in the order of the lines, whose index is ->line; caller
 * frees. */
static struct chains_moment *sort_parts(const struct chains *c)
{
	struct chains_moment *parts = xcalloc(c->part_count + 1, sizeof(*parts));
	_cleanup_free_ uint32_t *places = xcalloc(c->line_count + 1, sizeof(*places));
	size_t i;

	for (i = 0; i < c->line_count; i++)
		places[c->lines[i].id] = (uint32_t)i;
	for (i = 0; i < c->part_count; i++) {
		parts[i] = c->parts[i];
		parts[i].line = places[parts[i].line];
	}
	qsort(parts, c->part_count, sizeof(*parts), compare_parts);
	return parts;
}

/* Prints the samples of each line, by task. */
static void put_parts(struct pprof *p)
{
	const struct chains *c = p->report->chains;
	_cleanup_free_ struct chains_moment *parts = sort_parts(c);
	uint64_t samples = 0;
	size_t i;

	pprof_labels_init(&p->labels, p->report);
	for (i = 0; i < c->part_count; i++) {
		samples += parts[i].samples;
		if (i + 1 < c->part_count && !compare_parts(&parts[i], &parts[i + 1]))
			continue;
		put_sample(p, &c->lines[parts[i].line], &parts[i], samples);
		samples = 0;
	}
}

static void put_samples(struct pprof *p)
{
	const struct chains *c = p->report->chains;
	size_t i;

	for (i = 0; i < c->line_count && !c->tasks.count; i++)
		put_sample(p, &c->lines[i], NULL, c->lines[i].samples);
	if (c->tasks.count)
		put_parts(p);
}

/* --- functions --- */

struct function {
	uint64_t name, linkage_name; /* in the table of strings */
	uint64_t address;
	uint64_t mapping; /* 0: none */
};

static void put_function(struct pprof *p, size_t function, const struct function *f)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT, place = STRBUF_INIT,
					     about = STRBUF_INIT;

	put_number(&line, LINE_FUNCTION, function + 1);
	put_number(&place, LOCATION_ID, function + 1);
	put_number(&place, LOCATION_MAPPING, f->mapping);
	put_number(&place, LOCATION_ADDRESS, f->address);
	put_message(&place, LOCATION_LINE, &line);
	put_message(&p->out, PROFILE_LOCATION, &place);
	put_number(&about, FUNCTION_ID, function + 1);
	put_number(&about, FUNCTION_NAME, f->name);
	put_number(&about, FUNCTION_LINKAGE_NAME, f->linkage_name);
	put_message(&p->out, PROFILE_FUNCTION, &about);
}

/* A row; code without a symbol has the name of its image, as in folded stacks. */
static struct function of_row(struct pprof *p, const struct row *row)
{
	struct function f = { .mapping = (uint64_t)row->image + 1, .address = row->address };
	_cleanup_(strbuf_done) struct strbuf name = STRBUF_INIT;

	p->has_image[row->image] = true;
	if (row->kind == ROW_SYMBOL)
		text_visible(&name, row->text);
	else
		chains_add_bracketed(&name, p->report, row->image);
	f.name = f.linkage_name = number_of(p, strbuf_text(&name));
	if (row->kind == ROW_SYMBOL)
		f.linkage_name = number_of_name(p, row->symbol->name);
	return f;
}

static struct function named(struct pprof *p, const char *name)
{
	uint64_t number = number_of_name(p, name);

	return (struct function){ .name = number, .linkage_name = number };
}

static void put_functions(struct pprof *p)
{
	const struct chains *c = p->report->chains;
	struct function f;
	uint32_t i;

	for (i = 0; i < c->rows.count; i++) {
		if (!p->has_function[i])
			continue;
		f = of_row(p, &c->rows.rows[i]);
		put_function(p, i, &f);
	}
	for (i = 0; i < c->gather->image_count; i++) {
		if (!p->has_function[function_of_app(c, i)])
			continue;
		f = named(p, report_image(p->report, i));
		put_function(p, function_of_app(c, i), &f);
	}
	for (i = 0; i < c->end_count; i++) {
		if (!p->has_function[function_of_end(c, i)])
			continue;
		f = named(p, c->ends[i].mark);
		put_function(p, function_of_end(c, i), &f);
	}
}

static void put_image(struct pprof *p, uint32_t i)
{
	_cleanup_(strbuf_done) struct strbuf message = STRBUF_INIT;
	const struct gather_image *image = &p->report->gather->images[i];
	char id[BUILD_ID_TEXT] = "";

	if (!p->has_image[i])
		return;
	if (image->manifest)
		(void)build_id_text(&image->manifest->version.build_id, id);
	put_number(&message, MAPPING_ID, (uint64_t)i + 1);
	put_number(&message, MAPPING_FILE,
		   number_of_name(p, gather_image_name(p->report->gather, i, true)));
	put_number(&message, MAPPING_BUILD_ID, number_of(p, id));
	put_number(&message, MAPPING_HAS_FUNCTIONS, true);
	put_message(&p->out, PROFILE_MAPPING, &message);
}

/* The first one gives the profile its name in pprof: it is the application of the hottest chain. */
static void put_images(struct pprof *p)
{
	const struct chains *c = p->report->chains;
	uint32_t first = c->line_count ? c->lines[0].app : 0, i;

	put_image(p, first);
	for (i = 0; i < c->gather->image_count; i++)
		if (i != first)
			put_image(p, i);
}

/* --- the profile --- */

/* When the samples of a session were taken, in milliseconds; zeros if that is not known. */
static struct window time_of(const struct gather_session *s)
{
	const struct window *w = gather_window(s);
	struct window recorded = { 0 };
	struct setup setup = { 0 };

	if (w)
		return *w;
	if (setup_read(s->samples, &setup, NULL) == 0 && setup.ended < TIME_MOST_S) {
		recorded.begin_ms = (int64_t)MIN(setup.began, setup.ended) * 1000;
		recorded.end_ms = (int64_t)setup.ended * 1000;
	}
	setup_done(&setup);
	return recorded;
}

/* Servers file a profile under its time. */
static void put_time(struct pprof *p)
{
	const struct gather *g = p->report->gather;
	struct window all = { INT64_MAX, 0 };
	size_t i;

	for (i = 0; i < g->session_count; i++) {
		const struct window one = time_of(&g->sessions[i]);

		all.begin_ms = MIN(all.begin_ms, one.begin_ms);
		all.end_ms = MAX(all.end_ms, one.end_ms);
	}
	if (all.begin_ms <= 0 || all.end_ms <= all.begin_ms)
		return;
	put_number(&p->out, PROFILE_TIME_NS, (uint64_t)all.begin_ms * NS_PER_MS);
	put_number(&p->out, PROFILE_DURATION_NS, (uint64_t)(all.end_ms - all.begin_ms) * NS_PER_MS);
}

static void print_bytes(const unsigned char *bytes, size_t size, FILE *out)
{
	(void)fwrite(bytes, 1, size, out);
}

void report_chains_pprof(const struct report *r, FILE *out)
{
	const struct chains *c = r->chains;
	const bool is_clock = r->classes->count && !r->classes->classes[0].count;
	_cleanup_(pprof_done) struct pprof p = {
		.report = r,
		.hz = is_clock ? r->timer_hz : 0,
		.has_image = xcalloc(c->gather->image_count + 1, sizeof(bool)),
	};

	p.has_function = xcalloc(function_of_end(c, (uint32_t)c->end_count), sizeof(bool));
	(void)number_of(&p, "");
	put_types(&p);
	put_samples(&p);
	put_functions(&p);
	put_images(&p);
	put_time(&p);
	strbuf_add(&p.out, strbuf_text(&p.strings), p.strings.length);
	gzip_print(strbuf_text(&p.out), p.out.length, SIZE_MAX, print_bytes, out);
}
