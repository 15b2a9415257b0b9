/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/row_places.h"

#include "base/mem.h"
#include "elf/elffile.h"
#include "profile/binary/binary.h"
#include "profile/rows/container.h"
#include "profile/rows/internal/placer.h"
#include "profile/select/gather.h"
#include "sfile/sfile.h"

#include <stdlib.h>

/* Whether the row's line must be looked up, and a file may contain it. */
static bool wants_place(const struct gather *g, const struct row *row)
{
	const struct gather_image *image = &g->images[row->image];

	return row->needs_place && !row->place.file && row->kind == ROW_SYMBOL &&
	       image->id.kind == SNAME_ROOT && !image->kernel;
}

int row_places_compare(const void *pa, const void *pb)
{
	const struct row *a = *(const struct row *const *)pa, *b = *(const struct row *const *)pb;

	if (a->image != b->image)
		return a->image > b->image ? 1 : -1;
	return (a->address > b->address) - (a->address < b->address);
}

/* Looks up the lines of rows of one image, until the list ends or comes to another image. Returns
 * where that is. */
static size_t find_in_image(struct container *c, struct binaries *bs, struct row **rows, size_t i,
			    size_t count)
{
	const uint32_t image = rows[i]->image;
	_cleanup_free_ char *kept = NULL;
	struct placer *placer;
	struct binary binary;

	if (!binary_find(bs, image, &(struct sfile_header){ 0 }, &binary))
		binary.kept = kept = binaries_kept_path(bs, image);
	placer = placer_open(c, bs, image, &binary, false);
	for (; i < count && rows[i]->image == image; i++) {
		if (placer)
			rows[i]->place = placer_start(placer, rows[i]->address);
		rows[i]->needs_place = false;
	}
	placer_free(placer);
	elffile_close(binary.debug);
	elffile_close(binary.file);
	return i;
}

void row_places_find(struct container *c, const struct gather *g, struct binaries *bs)
{
	_cleanup_free_ struct row **rows = xcalloc(c->count + 1, sizeof(*rows));
	size_t i, n = 0;

	for (i = 0; i < c->count; i++)
		if (wants_place(g, &c->rows[i]))
			rows[n++] = &c->rows[i];
	/* Lines are found fast for ascending addresses. */
	qsort(rows, n, sizeof(*rows), row_places_compare);
	for (i = 0; i < n;)
		i = find_in_image(c, bs, rows, i, n);
}

void row_places_find_all(struct container *c, const struct gather *g, struct binaries *bs)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		c->rows[i].needs_place = true;
	row_places_find(c, g, bs);
}
