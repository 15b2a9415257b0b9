/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/annotate_mix.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "dwarf/lines.h"
#include "symbol/smartname.h"
#include "profile/binary/sources.h"

#include <string.h>

/* Lines shown before the first one of a function, and the most lines between two printed ones that
 * are shown, too. */
enum { CONTEXT = 5 };

struct text_file {
	char *path; /* as compiled */
	struct sourcetext *text;
	unsigned int printed; /* the last line printed of this function, 0: none */
};

struct annotate_mix {
	struct annotate_mix_config config;
	struct map by_hash;	   /* of the path: files */
	struct text_file *current; /* NULL at the start of a function */
	unsigned int line;
	uint64_t calls; /* hash of the inlined calls that the last code was of; 0: none */
};

struct annotate_mix *annotate_mix_new(const struct annotate_mix_config *config)
{
	struct annotate_mix *m = xcalloc(1, sizeof(*m));

	m->config = *config;
	return m;
}

void annotate_mix_free(struct annotate_mix *m)
{
	if (!m)
		return;
	map_for_each (&m->by_hash, slot) {
		struct text_file *file = slot->value;

		sourcetext_free(file->text);
		free(file->path);
		free(file);
	}
	map_done(&m->by_hash);
	free(m);
}

void annotate_mix_start(struct annotate_mix *m)
{
	m->current = NULL;
	m->line = 0;
	m->calls = 0;
	map_for_each (&m->by_hash, slot)
		((struct text_file *)slot->value)->printed = 0;
}

static struct text_file *file_called(struct annotate_mix *m, const char *path)
{
	uint64_t hash = hash_bytes(path, strlen(path));
	_cleanup_free_ char *found = NULL;
	struct text_file *file;

	map_for_each_of(&m->by_hash, hash, file) if (!strcmp(file->path, path)) return file;
	found = sources_find(m->config.sources, path);
	file = xcalloc(1, sizeof(*file));
	file->path = xstrdup(path);
	file->text = found ? sourcetext_open(found, m->config.owner) : NULL;
	if (file->text)
		(void)sources_compare(m->config.sources, found, m->config.built);
	map_add(&m->by_hash, hash, file);
	return file;
}

/* The first line to print before @line. */
static unsigned int first_line(const struct text_file *file, unsigned int line, bool is_start)
{
	if (is_start)
		return line > CONTEXT ? line - CONTEXT : 1;
	if (file->printed && file->printed < line && line - file->printed <= CONTEXT)
		return file->printed + 1;
	return line;
}

/* A number that differs between chains of inlined calls; 0 for none. */
static uint64_t hash_calls(const struct lines_call *calls, size_t count)
{
	uint64_t hash = count;
	size_t i;

	for (i = 0; i < count; i++)
		hash = hash_add(hash_add(hash, (uintptr_t)calls[i].function), calls[i].at.line);
	return hash;
}

/* Adds the origin of the code: its line, and the calls through which it was inlined, one per
 * line. */
static void announce(const struct annotate_mix *m, const struct lines_place *at,
		     const struct lines_call *calls, size_t count, const char *prefix,
		     struct strbuf *out)
{
	size_t i;

	strbuf_addf(out, "%s/* ", prefix);
	text_visible(out, at->file);
	strbuf_addf(out, ":%u", at->line);
	for (i = 0; i < count; i++) {
		strbuf_adds(out, ": ");
		if (!name_style_add(m->config.names, out, calls[i].function))
			text_visible(out, calls[i].function);
		strbuf_addf(out, "\n%s * inlined", prefix);
		if (!calls[i].at.file)
			continue;
		strbuf_adds(out, " at ");
		text_visible(out, calls[i].at.file);
		strbuf_addf(out, ":%u", calls[i].at.line);
	}
	strbuf_adds(out, " */\n");
}

/* Adds the lines of the current file up to @line that are shown with it. */
static void add_lines(const struct annotate_mix *m, unsigned int line, bool is_start,
		      const char *prefix, struct strbuf *out)
{
	const struct text_file *file = m->current;
	const char *text;
	unsigned int i;
	size_t size;

	for (i = first_line(file, line, is_start); file->text && i <= line; i++) {
		if (!sourcetext_line(file->text, i, &text, &size))
			return;
		strbuf_adds(out, prefix);
		if (m->config.is_terminal)
			text_visible_line(out, text, size);
		else
			strbuf_add(out, text, size);
		strbuf_adds(out, "\n");
	}
}

void annotate_mix_at(struct annotate_mix *m, uint64_t address, const char *prefix,
		     struct strbuf *out)
{
	const struct lines_call *calls = NULL;
	bool is_start = !m->current, is_same;
	struct text_file *file;
	struct lines_place at;
	uint64_t hash;
	size_t count;

	if (!lines_find(m->config.lines, address, &at))
		return;
	count = lines_inlines(m->config.lines, address, &calls);
	hash = hash_calls(calls, count);
	file = file_called(m, at.file);
	is_same = file == m->current;
	if (is_same && at.line == m->line && hash == m->calls)
		return;
	if (!is_same || !file->text || hash != m->calls)
		announce(m, &at, calls, count, prefix, out);
	m->current = file;
	if (!is_same || at.line != m->line)
		add_lines(m, at.line, is_start, prefix, out);
	m->line = at.line;
	m->calls = hash;
	file->printed = MAX(file->printed, at.line);
}
