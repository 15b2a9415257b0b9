/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/placer.h"

#include "base/map.h"
#include "base/mem.h"
#include "dwarf/lines.h"

struct placer {
	struct container *container;
	struct lines *lines;
	struct map files; /* by the pointer from lines.h: the container's copy */
};

struct placer *placer_new(struct container *c, const struct elffile *ef,
			  const struct elffile *debug)
{
	struct placer *p = xcalloc(1, sizeof(*p));

	p->container = c;
	p->lines = lines_new(ef, debug);
	return p;
}

void placer_free(struct placer *p)
{
	if (!p)
		return;
	lines_free(p->lines);
	map_done(&p->files);
	free(p);
}

struct lines *placer_lines(const struct placer *p)
{
	return p->lines;
}

struct row_place placer_find(struct placer *p, uint64_t address)
{
	struct lines_place at;
	char *file;

	if (!lines_find(p->lines, address, &at))
		return (struct row_place){ 0 };
	file = map_get(&p->files, (uintptr_t)at.file);
	if (!file) {
		file = arena_strdup(&p->container->arena, at.file);
		(void)map_set(&p->files, (uintptr_t)at.file, file);
	}
	return (struct row_place){ file, at.line };
}
