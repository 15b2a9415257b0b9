/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/line_texts.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "elf/elffile.h"
#include "file/path.h"
#include "profile/binary/sources.h"

#include <string.h>
#include <sys/stat.h>

/* A source file. */
struct text {
	char *file;
	struct sourcetext *lines; /* NULL: not there, or newer */
};

struct line_texts {
	const struct elffile *ef;
	const char *root;
	struct sources *sources;
	struct map texts;	 /* struct text by the hash of ->file */
	const struct text *last; /* the one that was asked for last */
};

struct line_texts *line_texts_new(const char *root, const struct elffile *ef)
{
	struct line_texts *t = xcalloc(1, sizeof(*t));

	t->ef = ef;
	t->root = root ?: "";
	t->sources = sources_new(root, NULL, NULL);
	sources_be_quiet(t->sources);
	return t;
}

void line_texts_free(struct line_texts *t)
{
	if (!t)
		return;
	map_for_each (&t->texts, slot) {
		struct text *text = slot->value;

		sourcetext_free(text->lines);
		free(text->file);
		free(text);
	}
	map_done(&t->texts);
	sources_free(t->sources);
	free(t);
}

/* Opens a source file if it is, by its time, the version that was compiled. */
static struct sourcetext *open_lines(struct line_texts *t, const char *file)
{
	_cleanup_free_ char *path = sources_find(t->sources, file);
	struct stat st;

	if (!path || strncmp(path, t->root, strlen(t->root)) != 0 || stat(path, &st) < 0 ||
	    st.st_mtime < 0 || (uint64_t)st.st_mtime > elffile_mtime(t->ef))
		return NULL;
	return sourcetext_open(path, elffile_owner(t->ef));
}

static const struct text *text_of(struct line_texts *t, const char *file)
{
	uint64_t hash = hash_bytes(file, strlen(file));
	struct text *text;

	map_for_each_of(&t->texts, hash, text) if (!strcmp(text->file, file)) return text;
	text = xcalloc(1, sizeof(*text));
	text->file = xstrdup(file);
	text->lines = open_lines(t, file);
	map_add(&t->texts, hash, text);
	return text;
}

uint32_t line_texts_find(struct line_texts *t, const char *file, unsigned int line)
{
	const char *text;
	uint32_t hash;
	size_t size;

	if (!t->last || strcmp(t->last->file, file) != 0)
		t->last = text_of(t, file);
	if (!t->last->lines || !line || !sourcetext_line(t->last->lines, line, &text, &size))
		return 0;
	hash = (uint32_t)source_line_hash(text, size);
	return hash ?: 1;
}
