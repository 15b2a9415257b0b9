/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/file_names.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "history/internal/generations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool same_header(const struct sfile_header *a, const struct sfile_header *b)
{
	return a->mtime == b->mtime && a->anon_start == b->anon_start &&
	       a->cpu_type == b->cpu_type && a->event == b->event && a->count == b->count &&
	       a->unit_mask == b->unit_mask && a->is_kernel == b->is_kernel &&
	       (uint32_t)a->cpu_mhz == (uint32_t)b->cpu_mhz;
}

/* The header with these contents; a new one if there is none. */
static const struct sfile_header *known_header(struct file_names *n, const struct sfile_header *h)
{
	const uint64_t hash =
		hash_add(hash_add(h->mtime, h->anon_start), (uint64_t)h->count << 32 | h->event);
	struct sfile_header *known;

	if (n->last && same_header(n->last, h))
		return n->last;
	map_for_each_of(&n->by_header, hash, known) if (same_header(known, h)) return known;
	known = arena_alloc(&n->headers, sizeof(*known));
	*known = *h;
	map_add(&n->by_header, hash, known);
	return known;
}

/* Parses the columns before the path, unless they are those of the line before. */
static int parse_columns(struct file_names *n, const char *line, size_t length)
{
	int r;

	if (length && length == n->length && !memcmp(line, n->text, length))
		return 0;
	n->length = 0;
	array_grow(&n->text, length + 1, &n->room);
	memcpy(n->text, line, length);
	n->text[length] = '\0';
	r = generation_parse_columns(n->text, &n->columns);
	memcpy(n->text, line, length);
	n->length = r < 0 ? 0 : length;
	return r;
}

/* The path without escapes; NULL if it has bad ones. */
static const char *plain_path(struct file_names *n, const char *path)
{
	const size_t size = strlen(path) + 1;

	if (!memchr(path, '\\', size))
		return path;
	array_grow(&n->path, size, &n->path_room);
	memcpy(n->path, path, size);
	return text_unescape_field(n->path) < 0 ? NULL : n->path;
}

int file_names_parse(struct file_names *n, const char *line, struct history_file *ret)
{
	const char *tab = strrchr(line, '\t'), *path = tab ? plain_path(n, tab + 1) : NULL;
	struct sfile_header header;
	struct sname_parts name;

	if (!path || parse_columns(n, line, (size_t)(tab - line)) < 0 ||
	    sname_pool_parse(&n->pool, path, &name, NULL) < 0)
		return -EBADMSG;
	header = n->columns;
	header.count = (uint32_t)name.rest->count;
	header.unit_mask = (uint32_t)name.rest->unit_mask;
	header.anon_start = name.image->start;
	ret->name = name;
	ret->header = n->last = known_header(n, &header);
	return 0;
}

void file_names_done(struct file_names *n)
{
	sname_pool_done(&n->pool);
	arena_done(&n->headers);
	map_done(&n->by_header);
	free(n->text);
	free(n->path);
	*n = FILE_NAMES_INIT;
}
