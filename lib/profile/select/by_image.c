/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/by_image.h"

#include "base/mem.h"
#include "profile/select/classes.h"
#include "profile/select/gather.h"

struct entry {
	uint32_t image, app, class, file;
};

static int compare_entries(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->image != b->image)
		return (a->image > b->image) - (a->image < b->image);
	if (a->app != b->app)
		return (a->app > b->app) - (a->app < b->app);
	if (a->class != b->class)
		return (a->class > b->class) - (a->class < b->class);
	return (a->file > b->file) - (a->file < b->file);
}

void by_image_group(const struct gather *g, const struct classes *c, struct by_image *ret)
{
	_cleanup_free_ struct entry *entries = xcalloc(g->file_count + 1, sizeof(*entries));
	struct by_image inv = { 0 };
	size_t i, n = 0;

	for (i = 0; i < g->file_count; i++) {
		const struct gather_file *f = &g->files[i];

		if (f->callee == GATHER_NONE)
			entries[n++] =
				(struct entry){ f->image, f->app, c->of_file[i], (uint32_t)i };
	}
	qsort(entries, n, sizeof(*entries), compare_entries);
	inv.files = xcalloc(n + 1, sizeof(*inv.files));
	inv.file_count = n;
	inv.images = xcalloc(g->image_count + 1, sizeof(*inv.images));
	for (i = 0; i < n; i++) {
		if (i == 0 || entries[i - 1].image != entries[i].image)
			inv.images[inv.image_count++] =
				(struct by_image_files){ .image = entries[i].image, .first = i };
		inv.images[inv.image_count - 1].count++;
		inv.files[i] = entries[i].file;
	}
	*ret = inv;
}

void by_image_done(struct by_image *inv)
{
	free(inv->files);
	free(inv->images);
	*inv = (struct by_image){ 0 };
}
