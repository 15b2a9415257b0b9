/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/annotate_json.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "disasm/disasm.h"
#include "dwarf/lines.h"
#include "profile/annotate/internal/annotate_calls.h"
#include "profile/annotate/internal/gone_lines.h"
#include "profile/binary/sources.h"
#include "profile/rows/container.h"
#include "profile/select/gather.h"
#include "symbol/symtab.h"

#include <inttypes.h>
#include <string.h>

/* Lines that are shown around those with code, and the longest part of a line. */
enum { CONTEXT = 5, LINE_BYTES_MAX = 400 };

/* A source file of the function. */
struct source {
	char *path; /* as compiled */
	unsigned int *lines;
	size_t count, room;
	struct map totals; /* by line: a number, with what it calls */
};

struct writer {
	struct annotate *a;
	const struct annotate_view *view;
	const struct annotate_json_output *to;
	struct disasm *disasm; /* NULL: there is no code */
	struct lines *lines;
	struct gone_lines *gone; /* of a file that is gone: what its lines are now */
	struct source *sources;
	size_t count, room;
	uint64_t *called; /* by each instruction; NULL: not wanted */
	size_t next;	  /* of these */
	struct annotate_calls calls;
	struct json j;
};

static void writer_done(struct writer *w)
{
	size_t i;

	for (i = 0; i < w->count; i++) {
		free(w->sources[i].path);
		free(w->sources[i].lines);
		map_done(&w->sources[i].totals);
	}
	free(w->sources);
	free(w->called);
	gone_lines_free(w->gone);
	lines_free(w->lines);
	disasm_free(w->disasm);
}

/* Makes a line one of the source that is there; false if it is not known. */
static bool place(const struct writer *w, struct lines_place *at)
{
	if (w->gone && at->file && at->line)
		at->line = gone_lines_place(w->gone, at);
	return at->file && at->line;
}

/* The line of the code at an address. */
static bool line_at(const struct writer *w, uint64_t address, struct lines_place *ret)
{
	return lines_find(w->lines, address, ret) && place(w, ret);
}

/* Number of the file of a line, which is noted. */
static size_t note_line(struct writer *w, const struct lines_place *at)
{
	struct source *source;
	size_t i = 0;

	while (i < w->count && strcmp(w->sources[i].path, at->file) != 0)
		i++;
	if (i == w->count) {
		array_grow(&w->sources, w->count + 1, &w->room);
		w->sources[w->count++] = (struct source){ .path = xstrdup(at->file) };
	}
	source = &w->sources[i];
	array_grow(&source->lines, source->count + 1, &source->room);
	source->lines[source->count++] = at->line;
	return i;
}

/* The sum of a line, with what it calls. */
static uint64_t *total_of(struct writer *w, const struct lines_place *at)
{
	const size_t file = note_line(w, at);
	struct source *source = &w->sources[file];
	uint64_t *total = map_get(&source->totals, at->line);

	if (!total) {
		total = annotate_counts(w->a);
		(void)map_set(&source->totals, at->line, total);
	}
	return total;
}

/* The lines that code is of: its own, and those that inlined code was called from. */
struct code_lines {
	uint64_t **totals;
	size_t count, room;
};

static void add_line(struct writer *w, struct code_lines *found, const struct lines_place *at)
{
	uint64_t *total = total_of(w, at);
	size_t i;

	for (i = 0; i < found->count; i++)
		if (found->totals[i] == total)
			return;
	array_grow(&found->totals, found->count + 1, &found->room);
	found->totals[found->count++] = total;
}

/* Finds the sums of the lines of the code at an address; caller frees ->totals. */
static struct code_lines lines_of(struct writer *w, uint64_t address)
{
	struct code_lines found = { 0 };
	const struct lines_call *calls = NULL;
	struct lines_place at;
	size_t i, n = lines_inlines(w->lines, address, &calls);

	if (line_at(w, address, &at))
		add_line(w, &found, &at);
	for (i = 0; i < n; i++) {
		at = calls[i].at;
		if (place(w, &at))
			add_line(w, &found, &at);
	}
	return found;
}

static void add_place(const struct annotate_place *place, void *data)
{
	struct writer *w = data;
	struct code_lines found = lines_of(w, place->address);
	size_t i;

	for (i = 0; i < found.count; i++)
		annotate_calls_add(&w->calls, place->number, found.totals[i]);
	free(found.totals);
}

/* Finds what lines and instructions have with what they call. */
static void add_totals(struct writer *w, const struct annotate_symbol *sym)
{
	const struct annotate_view *v = w->view;
	const struct samples *s = &v->image->samples;
	size_t i, k;

	for (i = 0; i < s->count; i++) {
		struct code_lines found = { 0 };

		if (s->samples[i].count && v->of_sample[i] != ANNOTATE_NONE &&
		    &v->symbols[v->of_sample[i]] == sym)
			found = lines_of(w, annotate_address(v, i));
		for (k = 0; k < found.count; k++)
			*found.totals[k] += s->samples[i].count;
		free(found.totals);
	}
	annotate_calls_each(w->a, v, sym, add_place, w);
	annotate_calls_end(&w->calls);
	if (w->disasm)
		w->called = annotate_calls_code(w->a, v, sym, w->disasm);
}

/* Writes the functions that were inlined at an address, the innermost first. */
static void write_calls(struct writer *w, uint64_t address)
{
	const struct lines_call *calls = NULL;
	size_t i, n = lines_inlines(w->lines, address, &calls);

	json_open(&w->j, NULL, '[');
	for (i = 0; i < n; i++) {
		_cleanup_(strbuf_done) struct strbuf name = STRBUF_INIT;

		if (!name_style_add(&w->a->config->names, &name, calls[i].function))
			strbuf_adds(&name, calls[i].function);
		json_string(&w->j, NULL, strbuf_text(&name));
	}
	json_close(&w->j, ']');
}

/* Writes address, text, samples, number of the file and line (0: not known), inlined calls and, if
 * that is wanted, samples with what it calls. */
static void write_instruction(struct writer *w, const struct disasm_insn *insn, uint64_t samples)
{
	struct lines_place at;
	bool has_line = line_at(w, insn->address, &at);

	json_line(&w->j);
	json_open(&w->j, NULL, '[');
	json_hex(&w->j, NULL, insn->address);
	json_bytes(&w->j, NULL, insn->text);
	json_u64(&w->j, NULL, samples);
	json_u64(&w->j, NULL, has_line ? note_line(w, &at) : 0);
	json_u64(&w->j, NULL, has_line ? at.line : 0);
	write_calls(w, insn->address);
	if (w->called)
		json_u64(&w->j, NULL, samples + w->called[w->next++]);
	json_close(&w->j, ']');
}

/* Writes the places with samples of a symbol whose code is gone, as instructions without text. */
static void write_places(struct writer *w, const struct annotate_symbol *sym)
{
	const struct annotate_view *v = w->view;
	const struct samples *s = &v->image->samples;
	size_t i;

	json_open(&w->j, "instructions", '[');
	for (i = 0; i < s->count; i++)
		if (s->samples[i].count && v->of_sample[i] != ANNOTATE_NONE &&
		    &v->symbols[v->of_sample[i]] == sym)
			write_instruction(w,
					  &(struct disasm_insn){ .address = annotate_address(v, i),
								 .text = "" },
					  s->samples[i].count);
	json_close(&w->j, ']');
}

static void write_piece(struct writer *w, const struct symbol *piece)
{
	const struct samples *s = &w->view->image->samples;
	uint64_t start = piece->address, end = start + (piece->end - piece->offset);
	size_t i = samples_first(s, piece->offset);
	struct disasm_insn insn;

	if (!disasm_seek(w->disasm, start, end))
		return;
	while (disasm_next(w->disasm, &insn)) {
		uint64_t past = piece->offset + (insn.address + insn.size - start), samples = 0;

		for (; i < s->count && s->samples[i].offset < past; i++)
			samples += s->samples[i].count;
		write_instruction(w, &insn, samples);
	}
}

static void write_instructions(struct writer *w, const struct annotate_symbol *sym)
{
	const struct symtab *st = w->view->binary.symtab;
	size_t i;

	json_open(&w->j, "instructions", '[');
	for (i = sym->first; i <= sym->last; i++)
		if (symtab_at(st, i)->whole == sym->first)
			write_piece(w, symtab_at(st, i));
	json_close(&w->j, ']');
}

static int by_number(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

/* Writes number and text of each line that is next to one with code. */
static void write_text(struct writer *w, struct source *s, const struct sourcetext *text)
{
	unsigned int line = 0;
	size_t i, size;
	const char *at;

	for (i = 0; i < s->count; i++) {
		unsigned int first = s->lines[i] > CONTEXT ? s->lines[i] - CONTEXT : 1;

		for (line = MAX(line, first - 1);
		     line < s->lines[i] + CONTEXT && sourcetext_line(text, line + 1, &at, &size);
		     line++) {
			_cleanup_free_ char *cut = xstrndup(at, MIN(size, (size_t)LINE_BYTES_MAX));

			json_line(&w->j);
			json_open(&w->j, NULL, '[');
			json_u64(&w->j, NULL, line + 1);
			json_bytes(&w->j, NULL, cut);
			json_close(&w->j, ']');
		}
	}
}

/* Writes line and samples, with what it calls, of each line. */
static void write_totals(struct writer *w, const struct source *s)
{
	size_t i;

	json_open(&w->j, "totals", '[');
	for (i = 0; i < s->count; i++) { /* sorted */
		const uint64_t *total = map_get(&s->totals, s->lines[i]);

		if (!total || !*total || (i && s->lines[i] == s->lines[i - 1]))
			continue;
		json_open(&w->j, NULL, '[');
		json_u64(&w->j, NULL, s->lines[i]);
		json_u64(&w->j, NULL, *total);
		json_close(&w->j, ']');
	}
	json_close(&w->j, ']');
}

static void write_sources(struct writer *w)
{
	size_t i;

	json_open(&w->j, "files", '[');
	for (i = 0; i < w->count; i++) {
		_cleanup_free_ char *found = sources_find(w->to->sources, w->sources[i].path);
		_cleanup_(sourcetext_freep) struct sourcetext *text =
			found ? sourcetext_open(found, binary_owner(&w->view->binary)) : NULL;

		bool is_newer = text && sources_compare(w->to->sources, found,
							binary_built(&w->view->binary,
								     &w->view->image->header));

		qsort(w->sources[i].lines, w->sources[i].count, sizeof(*w->sources[i].lines),
		      by_number);
		json_open(&w->j, NULL, '{');
		json_bytes(&w->j, "path", w->sources[i].path);
		if (is_newer)
			json_bool(&w->j, "newer", true);
		json_open(&w->j, "lines", '[');
		if (text)
			write_text(w, &w->sources[i], text);
		json_close(&w->j, ']');
		if (w->a->config->calls)
			write_totals(w, &w->sources[i]);
		json_close(&w->j, '}');
	}
	json_close(&w->j, ']');
}

/* Opens what instructions of a symbol need; NULL, or why there are none. */
static const char *open_code(struct writer *w, const struct annotate_symbol *sym, struct error *err)
{
	const struct binary *b = &w->view->binary;

	if (w->to->code_max && b->symtab &&
	    symtab_at(b->symtab, sym->last)->end - sym->symbol->offset > w->to->code_max)
		return "more code than a page shows, perhaps because other functions in it have no "
		       "symbols";
	if (!b->file) {
		w->lines = binary_lines(b);
		if (lines_exist(w->lines))
			w->gone = gone_lines_new(w->view, w->lines, w->to->sources);
		return b->no_code ?: "symbols only, no file with code";
	}
	w->lines = lines_new(b->file, b->debug);
	if (disasm_new(b->file, NULL, NULL, NULL, &w->disasm, err) < 0)
		return "no disassembler for its machine";
	return NULL;
}

void annotate_json_print(struct annotate *a, const struct annotate_view *v,
			 const struct annotate_symbol *sym, const struct annotate_json_output *to)
{
	_cleanup_(writer_done) struct writer w = {
		.a = a, .view = v, .to = to, .calls = { .annotate = a }
	};
	struct error err = ERROR_INIT;
	const char *why = open_code(&w, sym, &err);

	w.j = JSON_INIT(to->out);
	json_open(&w.j, NULL, '{');
	if (to->image)
		json_bytes(&w.j, "image", to->image);
	json_string(&w.j, "symbol", sym->text);
	json_string(&w.j, "link", sym->symbol->name);
	json_hex(&w.j, "address", sym->symbol->address);
	json_u64(&w.j, "samples", annotate_sum(a, sym->counts));
	if (a->config->calls)
		json_u64(&w.j, "total", sym->counts[ANNOTATE_WITH_CALLS]);
	if (why)
		json_string(&w.j, "why", why);
	if (!why || w.gone) {
		if (a->config->calls)
			add_totals(&w, sym);
		(w.gone ? write_places : write_instructions)(&w, sym);
		write_sources(&w);
	}
	json_close(&w.j, '}');
	(void)fputc('\n', to->out);
}

/* Prints the functions of the @i-th image, each preceded by a comma unless it is the first of all;
 * the number printed so far is @count. Returns the new number. */
static size_t print_image(struct annotate *a, size_t i, struct binaries *bs, size_t count,
			  const struct annotate_json_output *to)
{
	struct annotate_view view;
	size_t s;

	annotate_open(a, i, bs, &view);
	for (s = 0; s < view.symbol_count; s++) {
		if (!view.symbols[s].is_wanted || !annotate_reaches(a, view.symbols[s].counts))
			continue;
		(void)fputs(count++ ? "," : "", to->out);
		annotate_json_print(a, &view, &view.symbols[s], to);
	}
	annotate_close(&view);
	return count;
}

static void print_rest(const struct annotate *a, const struct gather *names, FILE *out)
{
	struct json j = JSON_INIT(out);
	size_t i;

	json_open(&j, NULL, '[');
	for (i = 0; i < a->rest_count; i++) {
		const struct annotate_rest *rest = &a->rest[i];

		json_open(&j, NULL, '{');
		if (rest->image != ANNOTATE_NONE)
			json_bytes(&j, "image", gather_image_name(names, rest->image, true));
		json_string(&j, "why", rest->why);
		json_u64(&j, "samples", annotate_sum(a, rest->counts));
		json_close(&j, '}');
	}
	json_close(&j, ']');
}

void annotate_json_print_all(struct annotate *a, const struct gather *names, struct binaries *bs,
			     const struct annotate_json_output *to)
{
	size_t i, count = 0;

	(void)fprintf(to->out,
		      "{\"format\":\"opannotate-1\",\"samples\":%" PRIu64 ",\"functions\":[\n",
		      annotate_sum(a, a->totals.totals));
	for (i = 0; i < a->image_count; i++) {
		struct annotate_json_output of_image = *to;

		of_image.image = gather_image_name(names, a->images[i].image, true);
		count = print_image(a, i, bs, count, &of_image);
	}
	(void)fputs("],\"rest\":", to->out);
	print_rest(a, names, to->out);
	if (a->config->calls)
		(void)fprintf(to->out, ",\"called\":%" PRIu64, annotate_called(a));
	(void)fputs("}\n", to->out);
}
