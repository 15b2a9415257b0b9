/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/by_image.h"

#include "base/mem.h"
#include "base/radix.h"
#include "profile/select/classes.h"
#include "profile/select/gather.h"

/* The numbers of flat files, by image, application and class; equal ones in their order. Returns
 * how many there are; the caller frees. */
static size_t sort_files(const struct gather *g, const struct classes *c, struct radix_entry **ret)
{
	struct radix_entry *entries = xcalloc(2 * g->file_count + 1, sizeof(*entries));
	size_t i, n = 0;

	for (i = 0; i < g->file_count; i++)
		if (g->files[i].callee == GATHER_NONE)
			entries[n++] = (struct radix_entry){ c->of_file[i], i };
	radix_sort(entries, entries + n, n);
	for (i = 0; i < n; i++) {
		const struct gather_file *f = &g->files[entries[i].value];

		entries[i].key = (uint64_t)f->image << 32 | f->app;
	}
	radix_sort(entries, entries + n, n);
	*ret = entries;
	return n;
}

void by_image_group(const struct gather *g, const struct classes *c, struct by_image *ret)
{
	_cleanup_free_ struct radix_entry *entries = NULL;
	struct by_image inv = { 0 };
	size_t i, n = sort_files(g, c, &entries);

	inv.files = xcalloc(n + 1, sizeof(*inv.files));
	inv.file_count = n;
	inv.images = xcalloc(g->image_count + 1, sizeof(*inv.images));
	for (i = 0; i < n; i++) {
		uint32_t image = (uint32_t)(entries[i].key >> 32);

		if (i == 0 || entries[i - 1].key >> 32 != image)
			inv.images[inv.image_count++] =
				(struct by_image_files){ .image = image, .first = i };
		inv.images[inv.image_count - 1].count++;
		inv.files[i] = (uint32_t)entries[i].value;
	}
	*ret = inv;
}

void by_image_done(struct by_image *inv)
{
	free(inv->files);
	free(inv->images);
	*inv = (struct by_image){ 0 };
}
