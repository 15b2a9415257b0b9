/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/internal/lending.h"

#include "profile/binary/internal/search.h"
#include "profile/select/gather.h"
#include "sfile/manifest.h"

/* Whether another profile of the session that has an image of the same name has the same image: the
 * session's names of kernels differ, and files may be replaced unless they have a build-id. */
static bool is_lendable(const struct gather_image *image)
{
	return image->id.kind == SNAME_KERN || image->kernel ||
	       (image->id.kind == SNAME_ROOT && image->manifest &&
		image->manifest->version.build_id.size);
}

void lending_note(struct binaries *bs, uint32_t image)
{
	bs->lends[image] = is_lendable(&bs->gather->images[image]);
	bs->lends_count += bs->lends[image];
}

const struct binaries *lending_find(const struct binaries *bs, uint32_t image, uint32_t *ret)
{
	const struct gather_image *wanted = &bs->gather->images[image];
	const struct binaries *l;

	for (l = is_lendable(wanted) ? bs->lender : NULL; l; l = l->lender) {
		*ret = gather_find_same(l->gather, wanted);
		if (*ret < l->image_count && l->lends[*ret])
			return l;
	}
	return NULL;
}
