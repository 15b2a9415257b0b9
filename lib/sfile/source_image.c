/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/source_image.h"

#include "base/hash.h"
#include "base/mem.h"
#include "sfile/manifest.h"

#include <inttypes.h>
#include <string.h>

bool source_image_is(const struct manifest_image *image)
{
	return image && build_id_equal(&image->version.build_id, &SOURCE_IMAGE_ID);
}

char *source_image_path(const char *samples, const char *name)
{
	return xasprintf("%s/source/%016" PRIx64 ".jo", samples, hash_bytes(name, strlen(name)));
}
