/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/gone_lines.h"

#include "base/mem.h"
#include "dwarf/lines.h"
#include "file/path.h"
#include "profile/annotate/internal/older_source.h"
#include "profile/binary/sources.h"

#include <stdlib.h>

struct gone_lines {
	const struct annotate_view *view;
	const struct kept_lines *kept;
	struct sources *sources;
	struct map files; /* struct older_source by the pointer of its path */
};

struct gone_lines *gone_lines_new(const struct annotate_view *v, const struct lines *lines,
				  struct sources *sources)
{
	struct gone_lines *g = xcalloc(1, sizeof(*g));

	*g = (struct gone_lines){ .view = v, .kept = lines_kept(lines), .sources = sources };
	return g;
}

void gone_lines_free(struct gone_lines *g)
{
	if (!g)
		return;
	map_for_each (&g->files, slot)
		older_source_free(slot->value);
	map_done(&g->files);
	free(g);
}

static struct older_source *open_source(struct gone_lines *g, const char *path)
{
	struct older_source *o = older_source_new(g->view, g->kept, path);
	_cleanup_free_ char *found = sources_find(g->sources, path);
	const uid_t owner = binary_owner(&g->view->binary);
	_cleanup_fclose_ FILE *in = found ? sources_open(found, owner) : NULL;

	older_source_compare(o, &(struct source_text){ found, in, owner });
	return o;
}

unsigned int gone_lines_place(struct gone_lines *g, const struct lines_place *at)
{
	struct older_source *o = map_get(&g->files, (uintptr_t)at->file);

	if (!o) {
		o = open_source(g, at->file);
		(void)map_set(&g->files, (uintptr_t)at->file, o);
	}
	return older_source_place(o, at->line);
}
