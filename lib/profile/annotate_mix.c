/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate_mix.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "image/lines.h"
#include "profile/sources.h"
#include "profile/sourcetext.h"

#include <string.h>

/* Lines before the first one of a function, and how many may be caught up with later. */
enum { CONTEXT = 5 };

struct text_file {
	char *path; /* as compiled */
	struct sourcetext *text;
	unsigned int printed; /* the last line printed of this function, 0: none */
	struct text_file *next;
};

struct annotate_mix {
	struct lines *lines;
	struct sources *sources;
	struct map by_hash;	   /* of the path: the first file */
	struct text_file *current; /* NULL at the start of a function */
	unsigned int line;
};

struct annotate_mix *annotate_mix_new(struct lines *lines, struct sources *sources)
{
	struct annotate_mix *m = xcalloc(1, sizeof(*m));

	m->lines = lines;
	m->sources = sources;
	return m;
}

void annotate_mix_free(struct annotate_mix *m)
{
	if (!m)
		return;
	map_for_each (&m->by_hash, slot) {
		struct text_file *file = slot->value, *next;

		for (; file; file = next) {
			next = file->next;
			sourcetext_free(file->text);
			free(file->path);
			free(file);
		}
	}
	map_done(&m->by_hash);
	free(m);
}

void annotate_mix_start(struct annotate_mix *m)
{
	m->current = NULL;
	m->line = 0;
	map_for_each (&m->by_hash, slot)
		for (struct text_file *file = slot->value; file; file = file->next)
			file->printed = 0;
}

static struct text_file *file_called(struct annotate_mix *m, const char *path)
{
	uint64_t hash = hash_bytes(path, strlen(path));
	struct text_file *first = map_get(&m->by_hash, hash), *file;
	_cleanup_free_ char *found = NULL;

	for (file = first; file; file = file->next)
		if (!strcmp(file->path, path))
			return file;
	found = sources_find(m->sources, path);
	file = xcalloc(1, sizeof(*file));
	file->path = xstrdup(path);
	file->text = found ? sourcetext_open(found) : NULL;
	file->next = first;
	(void)map_set(&m->by_hash, hash, file);
	return file;
}

/* The first line to print on the way to @line. */
static unsigned int first_line(const struct text_file *file, unsigned int line, bool is_start)
{
	if (is_start)
		return line > CONTEXT ? line - CONTEXT : 1;
	if (file->printed && file->printed < line && line - file->printed <= CONTEXT)
		return file->printed + 1;
	return line;
}

void annotate_mix_at(struct annotate_mix *m, uint64_t address, const char *prefix,
		     struct strbuf *out)
{
	bool is_start = !m->current;
	struct text_file *file;
	struct lines_place at;
	unsigned int i;

	if (!lines_find(m->lines, address, &at))
		return;
	file = file_called(m, at.file);
	if (file == m->current && at.line == m->line)
		return;
	if (file != m->current || !file->text)
		strbuf_addf(out, "%s/* %s:%u */\n", prefix, at.file, at.line);
	for (i = first_line(file, at.line, is_start); file->text && i <= at.line; i++) {
		const char *text;
		size_t size;

		if (!sourcetext_line(file->text, i, &text, &size))
			break;
		strbuf_adds(out, prefix);
		strbuf_add(out, text, size);
		strbuf_adds(out, "\n");
	}
	m->current = file;
	m->line = at.line;
	file->printed = MAX(file->printed, at.line);
}
