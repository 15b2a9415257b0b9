/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/placer.h"

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "dwarf/lines.h"
#include "profile/binary/binary.h"
#include "profile/rows/line_texts.h"
#include "symbol/function_store.h"
#include "symbol/kept_lines.h"

#include <errno.h>

struct placer {
	struct container *container;
	struct lines *lines; /* NULL: ->kept is used */
	struct kept_lines kept;
	struct line_texts *texts; /* of ->lines; NULL: not requested */
	struct map files;	  /* by the pointer that it was given: the container's copy */
};

struct placer *placer_new(struct container *c, const struct elffile *ef,
			  const struct elffile *debug)
{
	struct placer *p = xcalloc(1, sizeof(*p));

	p->container = c;
	p->lines = lines_new(ef, debug);
	return p;
}

/* Looks up lines in the file @path of function_store.h. NULL if there are none. */
static struct placer *new_kept(struct container *c, const char *path)
{
	struct error err = ERROR_INIT;
	struct kept_lines kept;
	struct placer *p;
	int r = function_store_read_lines(path, &kept, &err);

	if (r < 0) {
		if (r != -ENODATA && r != -ENOENT)
			log_warn("%s", err.text);
		return NULL;
	}
	p = xcalloc(1, sizeof(*p));
	p->container = c;
	p->kept = kept;
	return p;
}

struct placer *placer_open(struct container *c, struct binaries *bs, uint32_t image,
			   const struct binary *b, bool texts)
{
	_cleanup_free_ char *kept = texts && b->gone ? binaries_kept_path(bs, image) : NULL;
	struct placer *p;

	if (kept)
		return new_kept(c, kept);
	if (!b->file)
		return NULL;
	p = placer_new(c, b->file, b->debug);
	p->texts = texts ? line_texts_new(binaries_root(bs, image), b->file) : NULL;
	return p;
}

void placer_free(struct placer *p)
{
	if (!p)
		return;
	line_texts_free(p->texts);
	lines_free(p->lines);
	kept_lines_done(&p->kept);
	map_done(&p->files);
	free(p);
}

struct lines *placer_lines(const struct placer *p)
{
	return p->lines;
}

/* The container's copy of the name of a file. */
static const char *copy_of(struct placer *p, const char *file)
{
	char *copy = map_get(&p->files, (uintptr_t)file);

	if (!copy) {
		copy = arena_strdup(&p->container->arena, file);
		(void)map_set(&p->files, (uintptr_t)file, copy);
	}
	return copy;
}

static struct row_place find_kept(struct placer *p, uint64_t address)
{
	const struct kept_line *at = kept_lines_find(&p->kept, address);

	if (!at)
		return (struct row_place){ 0 };
	return (struct row_place){ copy_of(p, p->kept.files[at->file]), at->line, at->text };
}

struct row_place placer_find(struct placer *p, uint64_t address)
{
	struct lines_place at;
	uint32_t text;

	if (!p->lines)
		return find_kept(p, address);
	if (!lines_find(p->lines, address, &at))
		return (struct row_place){ 0 };
	text = p->texts ? line_texts_find(p->texts, at.file, at.line) : 0;
	return (struct row_place){ copy_of(p, at.file), at.line, text };
}
