/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/annotate_diff.h"

#include "base/json.h"
#include "base/mem.h"
#include "profile/annotate/internal/annotate_changes.h"
#include "profile/binary/sources.h"
#include "profile/print/json_diff.h"
#include "symbol/symtab.h"

#include <string.h>

struct writer {
	struct annotate_diff *d;
	struct json j;
};

static void write_before(struct writer *w, struct annotate_change c)
{
	json_u64(&w->j, "before", c.row->before ? c.row->before[0] : 0);
	json_double(&w->j, "before_percent", report_share_before(c.container, c.row, 0));
}

/* Writes samples, share and difference; the difference is null if the samples before are not
 * known. Nothing, if there are no samples. */
static void write_change(struct writer *w, struct annotate_change c)
{
	uint64_t samples;

	if (!c.row)
		return;
	samples = container_counts(c.container, c.row)[0];
	json_u64(&w->j, "samples", samples);
	json_double(&w->j, "percent", container_percent(c.container, samples, 0));
	if (c.is_left)
		write_before(w, c);
	else if (c.is_loose)
		json_string(&w->j, "difference", NULL);
	else
		json_difference(&w->d->report, "difference",
				(struct json_changed){ c.container, c.row, 0 }, &w->j);
}

/* --- functions --- */

/* Writes an instruction of the second side, or (@second is ANNOTATE_NONE) one that only the first
 * has. */
static void write_instruction(struct writer *w, const struct annotate_listing *f, uint32_t first,
			      uint32_t second, const uint32_t *inverse)
{
	unsigned int side = second != ANNOTATE_NONE;
	/* Of one build, the first's code is not read. */
	const struct annotate_code *before = f->codes[0].count ? &f->codes[0] : &f->codes[1];
	uint32_t i = side ? second : first;

	json_line(&w->j);
	json_open(&w->j, NULL, '{');
	if (side)
		json_hex(&w->j, "address", f->codes[1].list[second].address);
	if (first != ANNOTATE_NONE)
		json_hex(&w->j, "first_address", before->list[first].address);
	json_bytes(&w->j, "text", f->codes[side].list[i].text);
	write_change(w, annotate_change_of_code(w->d, f, side, i, inverse));
	json_close(&w->j, '}');
}

static void write_instructions(struct writer *w, const struct annotate_listing *f)
{
	size_t first = f->codes[0].count, second = f->codes[1].count;
	_cleanup_free_ uint32_t *inverse =
		annotate_changes_invert(f->partners, first ?: second, second);
	uint32_t gone = 0, i;

	json_open(&w->j, "instructions", '[');
	for (i = 0; i < second; i++) {
		size_t before = first ? annotate_changes_before(inverse, i, second, first) : 0;

		for (; gone < before; gone++)
			write_instruction(w, f, gone, ANNOTATE_NONE, NULL);
		write_instruction(w, f, inverse[i], i, inverse);
		gone += first && inverse[i] != ANNOTATE_NONE;
	}
	for (; gone < first; gone++)
		write_instruction(w, f, gone, ANNOTATE_NONE, NULL);
	json_close(&w->j, ']');
}

static void write_function(struct writer *w, const struct annotate_listing *f)
{
	const struct annotate_pair *pair = &w->d->pair;
	unsigned int side = f->functions[1] != ANNOTATE_NONE;
	const struct annotate_symbol *sym =
		annotate_pair_symbol(pair, side, &pair->functions[side][f->functions[side]]);

	json_line(&w->j);
	json_open(&w->j, NULL, '{');
	json_bytes(&w->j, "image", gather_image_name(w->d->sides[1].gather, f->row->image, true));
	json_string(&w->j, "symbol", sym->text);
	json_string(&w->j, "link", sym->symbol->name);
	json_hex(&w->j, "address", sym->symbol->address);
	write_change(w, annotate_change_of_function(w->d, f->functions[1], f->row));
	if (f->why)
		json_string(&w->j, "why", f->why);
	else
		write_instructions(w, f);
	json_close(&w->j, '}');
}

/* --- files --- */

static void write_text(struct writer *w, const struct sourcetext *text, unsigned int line)
{
	_cleanup_free_ char *copy = NULL;
	const char *at;
	size_t size;

	if (!text || !sourcetext_line(text, line, &at, &size))
		return;
	copy = xstrndup(at, size);
	json_bytes(&w->j, "text", copy);
}

static void write_line(struct writer *w, unsigned int side, const struct annotate_line *line)
{
	const struct annotate_places *s = &w->d->places;
	const struct annotate_file *file = &s->files[side][line->file], *other = NULL;
	struct annotate_change c = annotate_change_of_line(w->d, side, line);

	if (!c.row)
		return;
	if (file->partner != ANNOTATE_NONE)
		other = &s->files[!side][file->partner];
	json_line(&w->j);
	json_open(&w->j, NULL, '{');
	json_u64(&w->j, side ? "line" : "first_line", line->line);
	if (side && line->partner != ANNOTATE_NONE)
		json_u64(&w->j, "first_line", s->lines[0][line->partner].line);
	write_text(w, file->text ?: other ? other->text : NULL, line->line);
	write_change(w, c);
	json_close(&w->j, '}');
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct annotate_line *a = *(const struct annotate_line *const *)pa;
	const struct annotate_line *b = *(const struct annotate_line *const *)pb;

	return (a->line > b->line) - (a->line < b->line);
}

/* Writes the lines of a file on a side; of the first, only those without a counterpart. */
static void write_lines(struct writer *w, unsigned int side, uint32_t file)
{
	const struct annotate_places *s = &w->d->places;
	_cleanup_free_ const struct annotate_line **lines =
		xcalloc(s->line_count[side] + 1, sizeof(*lines));
	size_t i, n = 0;

	for (i = 0; i < s->line_count[side]; i++)
		if (s->lines[side][i].file == file &&
		    (side || s->lines[0][i].partner == ANNOTATE_NONE))
			lines[n++] = &s->lines[side][i];
	if (n)
		qsort(lines, n, sizeof(*lines), compare_lines);
	for (i = 0; i < n; i++)
		write_line(w, side, lines[i]);
}

static void write_file(struct writer *w, uint32_t number)
{
	const struct annotate_file *file = &w->d->places.files[1][number];

	json_line(&w->j);
	json_open(&w->j, NULL, '{');
	json_bytes(&w->j, "path", file->path);
	json_string(&w->j, "matched_by", annotate_changes_how(w->d, file));
	write_change(w, annotate_change_of_file(w->d, file));
	json_open(&w->j, "lines", '[');
	write_lines(w, 1, number);
	if (file->partner != ANNOTATE_NONE)
		write_lines(w, 0, file->partner);
	json_close(&w->j, ']');
	json_close(&w->j, '}');
}

/* --- all --- */

static void write_left(struct writer *w, enum annotate_left_of of)
{
	const struct annotate_left *left = &w->d->left[of];
	const struct container *c = &left->rows.sides[1];
	size_t i;

	for (i = 0; i < c->count; i++) {
		json_line(&w->j);
		json_open(&w->j, NULL, '{');
		json_string(&w->j, "of", annotate_left_name(of));
		if (left->list[i].image != ANNOTATE_NONE)
			json_bytes(&w->j, "image",
				   gather_image_name(w->d->sides[1].gather, left->list[i].image,
						     true));
		json_string(&w->j, "why", left->list[i].why);
		write_change(w, annotate_change_of_left(left, i));
		json_close(&w->j, '}');
	}
}

void annotate_diff_json(struct annotate_diff *d)
{
	struct writer w = { .d = d, .j = JSON_INIT(d->config.out) };
	_cleanup_free_ struct annotate_shown *files = NULL;
	unsigned int of;
	size_t i, n;

	annotate_changes_take_rest(d, ANNOTATE_LEFT_FUNCTIONS);
	annotate_places_find(&d->places, &d->pair);
	files = annotate_changes_files(d, &n);
	annotate_changes_take_rest(d, ANNOTATE_LEFT_LINES);
	annotate_listings_find(&d->listings, &d->pair, NULL);
	annotate_changes_take_rest(d, ANNOTATE_LEFT_CODE);
	json_open(&w.j, NULL, '{');
	json_string(&w.j, "format", "opannotate-difference-1");
	json_u64(&w.j, "samples", d->report.container->totals[0]);
	json_comparison(&d->report, &w.j);
	json_open(&w.j, "functions", '[');
	for (i = 0; i < d->listings.count; i++)
		write_function(&w, &d->listings.list[i]);
	json_close(&w.j, ']');
	json_open(&w.j, "files", '[');
	for (i = 0; i < n; i++)
		write_file(&w, files[i].file);
	json_close(&w.j, ']');
	json_open(&w.j, "rest", '[');
	for (of = 0; of < ANNOTATE_LEFT_COUNT_; of++)
		write_left(&w, (enum annotate_left_of)of);
	json_close(&w.j, ']');
	json_close(&w.j, '}');
	(void)fputc('\n', d->config.out);
}
