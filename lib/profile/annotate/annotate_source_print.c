/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/annotate_source.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "file/path.h"
#include "profile/annotate/annotate_text.h"
#include "profile/annotate/internal/older_source.h"
#include "profile/annotate/internal/source_copy.h"
#include "profile/annotate/internal/source_lines.h"
#include "profile/binary/sources.h"
#include "symbol/smartname.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file being printed: the samples before its lines, in the order of lines. */
struct printing {
	const struct annotate *a;
	struct source_file *file;
	struct line_samples *samples;
	const char *source;	/* where it was found; NULL: nowhere */
	struct map_slot *lines; /* sorted by line */
	size_t line_count;
	FILE *out;
	size_t next_line, next_head;
	unsigned int end_line; /* where the source ends, once it was read to there; or 0 */
	struct strbuf text;
	bool is_terminal;   /* control characters of the source are made visible */
	struct strbuf held; /* part of a line, until then */
};

static int compare_lines(const void *pa, const void *pb)
{
	const struct map_slot *a = pa, *b = pb;

	return (a->key > b->key) - (a->key < b->key);
}

static int compare_heads(const void *pa, const void *pb)
{
	const struct head *a = pa, *b = pb;

	if (a->line != b->line)
		return (a->line > b->line) - (a->line < b->line);
	if (a->is_inlined != b->is_inlined)
		return (a->is_inlined > b->is_inlined) - (a->is_inlined < b->is_inlined);
	return strcmp(a->name, b->name);
}

/* Merges heads of one name on one line: of code compiled several times, or in several images. */
static void join_heads(const struct printing *p, struct line_samples *samples)
{
	struct head *kept = NULL;
	size_t i, j, n = 0;

	for (i = 0; i < samples->head_count; i++) {
		const struct head *head = &samples->heads[i];

		if (kept && !compare_heads(kept, head)) {
			for (j = 0; j < p->a->totals.class_count; j++)
				kept->counts[j] += head->counts[j];
			continue;
		}
		samples->heads[n] = *head;
		kept = &samples->heads[n++];
	}
	samples->head_count = n;
}

static int compare_files(const void *pa, const void *pb)
{
	const struct source_file *a = pa, *b = pb;

	if (a->sum != b->sum)
		return (a->sum < b->sum) - (a->sum > b->sum);
	return strcmp(a->path, b->path);
}

static void put(struct printing *p)
{
	(void)fwrite(strbuf_text(&p->text), 1, p->text.length, p->out);
	strbuf_clear(&p->text);
}

static void print_prefix(struct printing *p, unsigned int line)
{
	const uint64_t *counts = NULL;

	if (p->next_line < p->line_count && p->lines[p->next_line].key == line)
		counts = p->lines[p->next_line++].value;
	annotate_prefix(p->a, counts, &p->text);
	put(p);
}

/* Adds the name of a function as people read it. */
static void add_name(struct printing *p, const char *function)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	if (!name_style_add(&p->a->config->names, &text, function))
		strbuf_adds(&text, function);
	text_visible(&p->text, strbuf_text(&text));
}

enum { HELD_MAX = 4096 };

/* Writes the held part of a line, with control characters made visible. */
static void put_held(struct printing *p)
{
	text_visible_line(&p->text, strbuf_text(&p->held), p->held.length);
	put(p);
	strbuf_clear(&p->held);
}

static void print_heads(struct printing *p, unsigned int line)
{
	put_held(p);
	for (; p->next_head < p->samples->head_count; p->next_head++) {
		const struct head *head = &p->samples->heads[p->next_head];

		if (head->line > line)
			return;
		annotate_symbol_total(p->a, head->name, head->is_inlined, head->counts, &p->text);
		put(p);
	}
}

static void put_character(struct printing *p, char c)
{
	if (p->is_terminal && c != '\n')
		strbuf_add(&p->held, &c, 1);
	else
		(void)putc_unlocked(c, p->out);
	if (p->held.length == HELD_MAX)
		put_held(p);
}

/* Copies the source by characters: neither it nor a line of it needs to fit into memory. */
static void print_lines(struct printing *p, FILE *in)
{
	unsigned int line = 0;
	bool at_start = true;
	int c;

	while ((c = getc_unlocked(in)) != EOF) {
		if (at_start)
			print_prefix(p, ++line);
		at_start = c == '\n';
		if (at_start)
			print_heads(p, line);
		put_character(p, (char)c);
	}
	if (!at_start) {
		print_heads(p, line);
		(void)putc_unlocked('\n', p->out);
	}
	p->end_line = ferror(in) ? 0 : line + at_start;
}

/* Says in place of its text which line it is. */
static void print_unread(const struct printing *p, unsigned int line)
{
	(void)fprintf(p->out, "(line %u%s)", line,
		      !p->end_line	    ? ""
		      : line == p->end_line ? ": the end of the file"
					    : ": beyond the end of the file");
}

/* The same of a line of the source as it was. */
static void print_older(struct printing *p, const struct older_source *older, unsigned int line)
{
	const char *function = older_source_function(older, line);

	strbuf_addf(&p->text, "(line %u", line);
	if (function) {
		strbuf_adds(&p->text, " of ");
		add_name(p, function);
	}
	strbuf_addf(&p->text, " as it was: %s)",
		    older_source_has_text(older, line) ? "not found in this source"
						       : "its text was not kept");
	put(p);
}

/* Prints the lines that were not printed yet: those that the source lacks, or those of @older. What
 * PHP does last in a script is on the one after it. */
static void print_other_lines(struct printing *p, const struct older_source *older)
{
	while (p->next_line < p->line_count || p->next_head < p->samples->head_count) {
		uint64_t line = UINT64_MAX;

		if (p->next_line < p->line_count)
			line = p->lines[p->next_line].key;
		if (p->next_head < p->samples->head_count)
			line = MIN(line, (uint64_t)p->samples->heads[p->next_head].line);
		print_prefix(p, (unsigned int)line);
		if (older)
			print_older(p, older, (unsigned int)line);
		else
			print_unread(p, (unsigned int)line);
		print_heads(p, (unsigned int)line);
		(void)putc_unlocked('\n', p->out);
	}
}

/* Begins with the first line. */
static void sort_lines(struct printing *p, struct line_samples *samples)
{
	size_t n = 0;

	free(p->lines);
	p->lines = xcalloc(samples->lines.count + 1, sizeof(*p->lines));
	map_for_each (&samples->lines, slot)
		p->lines[n++] = *slot;
	p->line_count = n;
	qsort(p->lines, n, sizeof(*p->lines), compare_lines);
	if (samples->head_count)
		qsort(samples->heads, samples->head_count, sizeof(*samples->heads), compare_heads);
	join_heads(p, samples);
	p->samples = samples;
	p->next_line = p->next_head = 0;
}

static void print_body(struct printing *p, FILE *in)
{
	struct source_file *file = p->file;
	size_t i;

	sort_lines(p, &file->here);
	if (in) {
		print_lines(p, in);
		if (ferror(in))
			log_warn("%s: its end is missing: %s", p->source, strerror(errno));
	}
	print_other_lines(p, NULL);
	for (i = 0; i < file->older_count; i++) {
		sort_lines(p, &file->older[i]->samples);
		print_other_lines(p, file->older[i]);
	}
	free(p->lines);
}

static void print_file_heading(struct printing *p)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "Total %s for file : \"%s\"\n\n", annotate_unit(p->a), p->file->path);
	annotate_numbers(p->a, p->file->counts, &text);
	annotate_comment(strbuf_text(&text), &p->text);
	put(p);
}

/* Writes one source to its own file. Comments follow it, so that its lines keep their numbers. */
static int write_file(struct printing *p, const struct annotate_source_output *to, FILE *in,
		      struct error *err)
{
	_cleanup_free_ char *path = source_copy_path(to->directory, p->file->path);
	_cleanup_fclose_ FILE *out = NULL;
	int r = source_copy_create(path, in, &out, err);

	if (r < 0)
		return r;
	p->out = out;
	print_body(p, in);
	print_file_heading(p);
	annotate_comment(to->heading, &p->text);
	put(p);
	if (fflush(out) != 0 || ferror(out))
		return error_errno(err, -errno, "%s", path);
	return 0;
}

/* Moves samples of binaries that are gone to the lines of the source that is there. */
static void settle(const struct printing *p, FILE *in)
{
	const struct source_text text = { p->source, in, p->file->owner };
	bool is_unknown = false;
	size_t i;

	for (i = 0; i < p->file->older_count; i++) {
		struct older_source *older = p->file->older[i];

		older_source_settle(older, &text, &p->file->here, p->a->totals.class_count);
		is_unknown |= older->is_unknown;
	}
	if (is_unknown)
		log_warn("%s: newer than a binary that is gone, and texts of its lines were not "
			 "kept; their samples are after the source",
			 p->source);
}

static int print_file(struct annotate_source *s, struct source_file *file,
		      const struct annotate_source_output *to, struct error *err)
{
	_cleanup_free_ char *path = sources_find(to->sources, file->path);
	_cleanup_fclose_ FILE *in = path ? sources_open(path, file->owner) : NULL;
	struct printing p = { .a = s->a, .file = file, .source = path, .out = to->out };
	int r = 0;

	if (in)
		(void)sources_compare(to->sources, path, file->built);
	settle(&p, in);
	p.is_terminal = !to->directory && isatty(fileno(to->out));
	if (to->directory) {
		r = write_file(&p, to, in, err);
	} else {
		print_file_heading(&p);
		(void)fputs("\n\n", p.out);
		print_body(&p, in);
	}
	strbuf_done(&p.text);
	strbuf_done(&p.held);
	return r;
}

static bool is_selected(const struct annotate_config *c, const struct source_file *file)
{
	return (!c->include_files.count || patterns_match_path(&c->include_files, file->path)) &&
	       !patterns_match_path(&c->exclude_files, file->path);
}

/* Returns whether the file is to be printed; if not, adds its samples to the rest. */
static bool is_shown(struct annotate *a, const struct source_file *file)
{
	const struct annotate_config *c = a->config;

	/* Without samples there is only the head of a function whose samples are in other files, or
	 * what lines call. */
	if (file->sum == 0)
		return file->has_calls && c->threshold <= 0 && is_selected(c, file);
	if (!is_selected(c, file)) {
		annotate_add_rest(a, ANNOTATE_NONE, "in source files that were not selected",
				  file->counts);
		return false;
	}
	if (annotate_reaches(a, file->counts))
		return true;
	annotate_add_rest(a, ANNOTATE_NONE, "in source files below the threshold", file->counts);
	return false;
}

int annotate_source_print(struct annotate_source *s, const struct annotate_source_output *to,
			  struct error *err)
{
	size_t i;
	int r;

	if (s->a->config->calls)
		annotate_calls_end(&s->called);
	map_done(&s->by_hash); /* sorting invalidates it */
	if (s->count)
		qsort(s->files, s->count, sizeof(*s->files), compare_files);
	for (i = 0; i < s->count; i++) {
		if (!is_shown(s->a, &s->files[i]))
			continue;
		r = print_file(s, &s->files[i], to, err);
		if (r < 0)
			return r;
	}
	return 0;
}
