/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/kallsyms.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <errno.h>
#include <string.h>

/* A symbol while the file is read. */
struct entry {
	uint64_t address;
	size_t name;	/* offset in the names */
	uint32_t image; /* index */
	char type;
};

struct kallsyms {
	struct kallsyms_image *images;
	size_t count, room;
	struct kallsyms_symbol *symbols;
	char *names;
};

struct loading {
	struct kallsyms *k;
	struct entry *entries;
	size_t count, room;
	struct strbuf names; /* NUL-separated */
	size_t image;	     /* the lines belong to this one */
	bool saved;	     /* a heading was seen: the lines are ours */
	uint64_t text, stext, etext;
};

static size_t image_index(struct kallsyms *k, const char *name)
{
	size_t i;

	for (i = 0; i < k->count; i++)
		if (!strcmp(k->images[i].name, name))
			return i;
	array_grow(&k->images, k->count + 1, &k->room);
	k->images[k->count++] = (struct kallsyms_image){ .name = xstrdup(name) };
	return i;
}

/* Takes "# text START END", "# module NAME START END" or "# absolute NAME"; others are remarks. */
static void load_heading(struct loading *l, char *line)
{
	char *save = NULL, *kind = strtok_r(line + 1, " \t\n", &save);
	const char *name = "", *start, *end;
	struct kallsyms_image *image;
	uint64_t from = 0, to = 0;

	if (!kind || (strcmp(kind, "text") && strcmp(kind, "module") && strcmp(kind, "absolute")))
		return;
	if (strcmp(kind, "text"))
		name = strtok_r(NULL, " \t\n", &save);
	if (!name)
		return;
	if (strcmp(kind, "absolute")) {
		start = strtok_r(NULL, " \t\n", &save);
		end = strtok_r(NULL, " \t\n", &save);
		if (!start || !end || parse_hex(&start, &from) < 0 || parse_hex(&end, &to) < 0)
			return;
	}
	l->image = image_index(l->k, name);
	l->saved = true;
	image = &l->k->images[l->image];
	if (!image->start) {
		image->start = from;
		image->end = to;
	}
}

static void load_symbol(struct loading *l, char *text)
{
	struct kallsyms_line line;

	if (kallsyms_line_parse(text, &line) < 0 || !strchr("tTwW", line.type) ||
	    (!l->saved && (*line.module || !line.address)))
		return;
	if (!l->saved && !strcmp(line.name, "_text"))
		l->text = line.address;
	else if (!l->saved && !strcmp(line.name, "_stext"))
		l->stext = line.address;
	else if (!l->saved && !strcmp(line.name, "_etext"))
		l->etext = line.address;
	array_grow(&l->entries, l->count + 1, &l->room);
	l->entries[l->count++] = (struct entry){ .address = line.address,
						 .name = l->names.length,
						 .image = (uint32_t)l->image,
						 .type = line.type };
	strbuf_add(&l->names, line.name, strlen(line.name) + 1);
}

static bool ends_with(const char *text, const char *tail)
{
	size_t length = strlen(text), n = strlen(tail);

	return length >= n && !strcmp(text + length - n, tail);
}

/* How little a symbol says to a person: marks of the linker last, local names after global ones. */
static unsigned int obscurity(const char *name, char type)
{
	unsigned int underscores = (unsigned int)strspn(name, "_.");

	return (ends_with(name, "_text") || ends_with(name, "_stext") ||
		ends_with(name, "_etext") || ends_with(name, "_text_start") ||
		ends_with(name, "_text_end")) *
		       1000 +
	       (type == 't') * 100 + (type == 'w' || type == 'W') * 200 + MIN(underscores, 99U);
}

static int by_address(const void *a, const void *b, void *names)
{
	const struct entry *x = a, *y = b;
	const char *xname = (char *)names + x->name, *yname = (char *)names + y->name;
	unsigned int xrank, yrank;

	if (x->image != y->image)
		return (x->image > y->image) - (x->image < y->image);
	if (x->address != y->address)
		return (x->address > y->address) - (x->address < y->address);
	xrank = obscurity(xname, x->type);
	yrank = obscurity(yname, y->type);
	return xrank != yrank ? (xrank > yrank) - (xrank < yrank) : strcmp(xname, yname);
}

/* Sorts what was read into the images' tables. */
static void build(struct loading *l)
{
	struct kallsyms *k = l->k;
	size_t i;

	k->names = strbuf_take(&l->names);
	k->symbols = xcalloc(l->count, sizeof(*k->symbols));
	qsort_r(l->entries, l->count, sizeof(*l->entries), by_address, k->names);
	for (i = 0; i < l->count; i++) {
		struct kallsyms_image *image = &k->images[l->entries[i].image];

		k->symbols[i] = (struct kallsyms_symbol){ l->entries[i].address,
							  k->names + l->entries[i].name };
		if (!image->count++)
			image->symbols = &k->symbols[i];
	}
}

int kallsyms_load_stream(FILE *f, const char *name, struct kallsyms **ret, struct error *err)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = xcalloc(1, sizeof(*k));
	struct loading l = { .k = k, .names = STRBUF_INIT };
	_cleanup_free_ char *line = NULL;
	size_t room = 0;

	l.image = image_index(k, "");
	while (getline(&line, &room, f) > 0)
		if (*line == '#')
			load_heading(&l, line);
		else
			load_symbol(&l, line);
	if (l.text || l.stext) {
		k->images[0].start = l.text ? l.text : l.stext;
		k->images[0].end = l.etext;
	}
	if (l.count)
		build(&l);
	strbuf_done(&l.names);
	free(l.entries);
	if (!l.count)
		return error_set(err, -ENODATA, "%s: no symbol in it", name);
	*ret = STEAL(k);
	return 0;
}

int kallsyms_load(const char *path, struct kallsyms **ret, struct error *err)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");

	if (!f)
		return error_errno(err, -errno, "%s", path);
	return kallsyms_load_stream(f, path, ret, err);
}

void kallsyms_free(struct kallsyms *k)
{
	size_t i;

	if (!k)
		return;
	for (i = 0; i < k->count; i++)
		free((char *)k->images[i].name);
	free(k->images);
	free(k->symbols);
	free(k->names);
	free(k);
}

const struct kallsyms_image *kallsyms_image(const struct kallsyms *k, const char *name)
{
	size_t i;

	for (i = 0; i < k->count; i++)
		if (!strcmp(k->images[i].name, name))
			return &k->images[i];
	return NULL;
}

size_t kallsyms_image_count(const struct kallsyms *k)
{
	return k->count;
}

const struct kallsyms_image *kallsyms_image_at(const struct kallsyms *k, size_t i)
{
	return &k->images[i];
}

const struct kallsyms_symbol *kallsyms_find(const struct kallsyms_image *image, uint64_t key)
{
	size_t low = 0, high = image ? image->count : 0, middle;
	uint64_t address;

	if (!image || __builtin_add_overflow(image->start, key, &address) ||
	    (image->end && address >= image->end))
		return NULL;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (image->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	for (low--; low && image->symbols[low - 1].address == image->symbols[low].address;)
		low--;
	return &image->symbols[low];
}
