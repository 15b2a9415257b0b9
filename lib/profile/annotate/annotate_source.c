/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/annotate_source.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "dwarf/lines.h"
#include "symbol/smartname.h"
#include "symbol/symtab.h"
#include "profile/annotate/internal/older_source.h"
#include "profile/annotate/internal/source_lines.h"

#include <stdlib.h>
#include <string.h>

struct annotate_source *annotate_source_new(struct annotate *a)
{
	struct annotate_source *s = xcalloc(1, sizeof(*s));

	s->a = a;
	s->called.annotate = a;
	return s;
}

void annotate_source_free(struct annotate_source *s)
{
	size_t i, j;

	if (!s)
		return;
	for (i = 0; i < s->count; i++) {
		line_samples_done(&s->files[i].here);
		for (j = 0; j < s->files[i].older_count; j++)
			older_source_free(s->files[i].older[j]);
		free(s->files[i].older);
	}
	free(s->files);
	map_done(&s->by_hash);
	map_done(&s->by_pointer);
	map_done(&s->older);
	map_done(&s->calls);
	free(s);
}

/* The index + 1 of the file at @path, which is added if it is new. */
static uintptr_t number_of(struct annotate_source *s, const char *path)
{
	uint64_t hash = hash_bytes(path, strlen(path));
	uintptr_t number;

	map_for_each_of(&s->by_hash, hash,
			number) if (!strcmp(s->files[number - 1].path, path)) return number;
	array_grow(&s->files, s->count + 1, &s->room);
	s->files[s->count++] =
		(struct source_file){ .path = arena_strdup(&s->a->totals.arena, path),
				      .owner = s->owner,
				      .counts = annotate_counts(s->a) };
	map_add(&s->by_hash, hash, (void *)(uintptr_t)s->count);
	return s->count;
}

/* Notes that the open image names a file. */
static void add_binary(const struct annotate_source *s, struct source_file *file)
{
	if (s->owner == 0)
		file->owner = 0;
	if (s->built && (!file->built || s->built < file->built))
		file->built = s->built;
}

/* The index of a file, which is added if it is new. */
static size_t index_called(struct annotate_source *s, const char *path)
{
	uintptr_t number = (uintptr_t)map_get(&s->by_pointer, (uintptr_t)path);

	if (!number) {
		number = number_of(s, path);
		(void)map_set(&s->by_pointer, (uintptr_t)path, (void *)number);
		add_binary(s, &s->files[number - 1]);
	}
	return number - 1;
}

static struct source_file *file_called(struct annotate_source *s, const char *path)
{
	size_t index = index_called(s, path); /* moves the files */

	return &s->files[index];
}

/* The samples of the lines of a file, in the version that the open image was built from. */
static struct line_samples *samples_of(struct annotate_source *s, const char *path)
{
	size_t index = index_called(s, path);
	struct source_file *file = &s->files[index];
	struct older_source *older;

	if (!s->kept)
		return &file->here;
	older = map_get(&s->older, index);
	if (!older) {
		older = older_source_new(s->view, s->kept, path);
		(void)map_set(&s->older, index, older);
		array_grow(&file->older, file->older_count + 1, &file->older_room);
		file->older[file->older_count++] = older;
	}
	return &older->samples;
}

/* The counts of a line. */
static uint64_t *counts_of(struct annotate_source *s, const struct lines_place *at)
{
	struct line_samples *samples = samples_of(s, at->file);
	uint64_t *counts = map_get(&samples->lines, at->line);

	if (!counts) {
		counts = annotate_counts(s->a);
		(void)map_set(&samples->lines, at->line, counts);
	}
	return counts;
}

static void add_sample(struct annotate_source *s, const struct lines_place *at,
		       const struct sample *sample)
{
	struct source_file *file = file_called(s, at->file);

	counts_of(s, at)[sample->class] += sample->count;
	if (s->a->config->calls)
		counts_of(s, at)[ANNOTATE_WITH_CALLS] += sample->count;
	file->counts[sample->class] += sample->count;
	file->sum += sample->count;
}

/* Finds the lines on which functions with samples start. */
static void add_heads(struct annotate_source *s, const struct annotate_view *v, struct lines *lines)
{
	size_t i;

	for (i = 0; i < v->symbol_count; i++) {
		const struct annotate_symbol *sym = &v->symbols[i];
		struct lines_place at;

		if (!sym->is_wanted || !lines_start(lines, sym->symbol->address, &at))
			continue;
		line_samples_add_head(samples_of(s, at.file),
				      &(struct head){ at.line, false, sym->text, sym->counts });
	}
}

static const char *call_name(struct annotate_source *s, const char *function)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	bool styled = name_style_add(&s->a->config->names, &text, function);

	return arena_strdup(&s->a->totals.arena, styled ? strbuf_text(&text) : function);
}

/* The counts of inlined code at the line of the call. */
static uint64_t *counts_of_call(struct annotate_source *s, const struct lines_call *call)
{
	uint64_t key =
		hash_add(hash_add(hash_u64((uintptr_t)call->function), (uintptr_t)call->at.file),
			 call->at.line);
	uint64_t *counts = map_get(&s->calls, key);

	if (!counts) {
		counts = annotate_counts(s->a);
		(void)map_set(&s->calls, key, counts);
		line_samples_add_head(samples_of(s, call->at.file),
				      &(struct head){ call->at.line, true,
						      call_name(s, call->function), counts });
	}
	return counts;
}

/* Counts a sample of inlined code at the line of the call. */
static void add_call(struct annotate_source *s, const struct lines_call *call,
		     const struct sample *sample)
{
	uint64_t *counts = counts_of_call(s, call);

	counts[sample->class] += sample->count;
	if (s->a->config->calls)
		counts[ANNOTATE_WITH_CALLS] += sample->count;
}

/* Whether both replace a call of one function on one line. */
static bool same_call(const struct lines_call *a, const struct lines_call *b)
{
	return a->at.line == b->at.line && !strcmp(a->function, b->function) &&
	       !strcmp(a->at.file, b->at.file);
}

/* Counts a sample once for each line with a call that it is in, however deep they are nested. */
static void add_calls(struct annotate_source *s, struct lines *lines, uint64_t address,
		      const struct sample *sample)
{
	const struct lines_call *calls = NULL;
	size_t i, j, n = lines_inlines(lines, address, &calls);

	for (i = 0; i < n; i++) {
		if (!calls[i].at.file || !calls[i].at.line)
			continue;
		for (j = 0; j < i; j++)
			if (calls[j].at.file && same_call(&calls[j], &calls[i]))
				break;
		if (j == i)
			add_call(s, &calls[i], sample);
	}
}

/* --- what is called --- */

static bool has_line(const struct lines_call *call)
{
	return call->at.file && call->at.line;
}

/* Whether one of the first @n calls, or the code itself, is at the line of call number @n. */
static bool is_at_line(const struct lines_call *calls, size_t n, const struct lines_place *code)
{
	size_t i;

	if (code->line == calls[n].at.line && !strcmp(code->file, calls[n].at.file))
		return true;
	for (i = 0; i < n; i++)
		if (has_line(&calls[i]) && calls[i].at.line == calls[n].at.line &&
		    !strcmp(calls[i].at.file, calls[n].at.file))
			return true;
	return false;
}

/* Counts a sample of inlined code for each other line that it was called from. */
static void add_callers(struct annotate_source *s, struct lines *lines, uint64_t address,
			const struct lines_place *at, const struct sample *sample)
{
	const struct lines_call *calls = NULL;
	size_t i, n = lines_inlines(lines, address, &calls);

	for (i = 0; i < n; i++) {
		if (!has_line(&calls[i]) || is_at_line(calls, i, at))
			continue;
		counts_of(s, &calls[i].at)[ANNOTATE_WITH_CALLS] += sample->count;
		file_called(s, calls[i].at.file)->has_calls = true;
	}
}

/* An image whose places in call chains are added. */
struct adding {
	struct annotate_source *source;
	struct lines *lines;
};

/* Notes which lines have a place: that of its code, and those that inlined code was called from. */
static void add_place(const struct annotate_place *place, void *data)
{
	const struct adding *adding = data;
	struct annotate_source *s = adding->source;
	const struct lines_call *calls = NULL;
	struct lines_place at;
	size_t i, n;

	if (!lines_find(adding->lines, place->address, &at))
		return;
	annotate_calls_add(&s->called, place->number, &counts_of(s, &at)[ANNOTATE_WITH_CALLS]);
	file_called(s, at.file)->has_calls = true;
	n = lines_inlines(adding->lines, place->address, &calls);
	for (i = 0; i < n; i++) {
		if (!has_line(&calls[i]))
			continue;
		annotate_calls_add(&s->called, place->number,
				   &counts_of(s, &calls[i].at)[ANNOTATE_WITH_CALLS]);
		annotate_calls_add(&s->called, place->number,
				   &counts_of_call(s, &calls[i])[ANNOTATE_WITH_CALLS]);
		file_called(s, calls[i].at.file)->has_calls = true;
	}
}

/* Adds the samples of the view to their lines. Returns those that have none. */
static const uint64_t *add_samples(struct annotate_source *s, const struct annotate_view *v,
				   struct lines *lines)
{
	const struct samples *samples = &v->image->samples;
	uint64_t *lost = annotate_counts(s->a);
	size_t i;

	for (i = 0; i < samples->count; i++) {
		const struct sample *sample = &samples->samples[i];
		struct lines_place at;

		if (!sample->count || v->of_sample[i] == ANNOTATE_NONE ||
		    !v->symbols[v->of_sample[i]].is_wanted)
			continue;
		if (!lines_find(lines, annotate_address(v, i), &at)) {
			lost[sample->class] += sample->count;
			continue;
		}
		add_sample(s, &at, sample);
		add_calls(s, lines, annotate_address(v, i), sample);
		if (s->a->config->calls)
			add_callers(s, lines, annotate_address(v, i), &at, sample);
	}
	return lost;
}

void annotate_source_add(struct annotate_source *s, const struct annotate_view *v)
{
	_cleanup_(lines_freep) struct lines *lines = NULL;
	struct adding adding = { .source = s };
	const uint64_t *lost;

	if (!v->binary.symtab)
		return;
	adding.lines = lines = binary_lines(&v->binary);
	if (!v->binary.file && !lines_exist(lines)) {
		annotate_give_up(s->a, v,
				 v->binary.no_code ? v->binary.no_code
						   : "symbols only, no file with code");
		return;
	}
	s->owner = binary_owner(&v->binary);
	s->built = binary_built(&v->binary, &v->image->header);
	s->view = v;
	s->kept = v->binary.file ? NULL : lines_kept(lines);
	lost = add_samples(s, v, lines);
	if (s->a->config->calls)
		annotate_calls_each(s->a, v, NULL, add_place, &adding);
	add_heads(s, v, lines);
	map_done(&s->by_pointer);
	map_done(&s->older);
	map_done(&s->calls);
	annotate_add_rest(s->a, v->image->image,
			  lines_exist(lines) ? "no source line is known" : "no debug information",
			  lost);
}
