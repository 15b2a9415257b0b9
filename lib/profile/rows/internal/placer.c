/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/placer.h"

#include "base/map.h"
#include "base/mem.h"
#include "dwarf/lines.h"
#include "profile/binary/binary.h"
#include "profile/rows/line_texts.h"

struct placer {
	struct container *container;
	struct lines *lines;
	struct line_texts *texts; /* NULL: not requested, or those that were kept */
	struct map files;	  /* by the pointer that it was given: the container's copy */
};

struct placer *placer_open(struct container *c, struct binaries *bs, uint32_t image,
			   const struct binary *b, bool texts)
{
	struct placer *p;

	if (!b->file && !b->kept)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->container = c;
	p->lines = binary_lines(b);
	p->texts = texts && b->file ? line_texts_new(binaries_root(bs, image), b->file) : NULL;
	return p;
}

void placer_free(struct placer *p)
{
	if (!p)
		return;
	line_texts_free(p->texts);
	lines_free(p->lines);
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

struct row_place placer_find(struct placer *p, uint64_t address)
{
	struct lines_place at;
	uint32_t text;

	if (!lines_find(p->lines, address, &at))
		return (struct row_place){ 0 };
	text = p->texts ? line_texts_find(p->texts, at.file, at.line)
			: lines_kept_text(p->lines, address);
	return (struct row_place){ copy_of(p, at.file), at.line, text };
}

struct row_place placer_start(struct placer *p, uint64_t address)
{
	struct lines_place at;

	if (!lines_start(p->lines, address, &at))
		return (struct row_place){ 0 };
	return (struct row_place){ .file = copy_of(p, at.file), .line = at.line };
}
