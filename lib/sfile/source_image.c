/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/source_image.h"

#include "base/hash.h"
#include "base/macro.h"
#include "base/mem.h"
#include "sfile/manifest.h"

#include <inttypes.h>
#include <string.h>

static const struct build_id ids[] = {
	[SOURCE_PYTHON] = { .size = 6, .bytes = "source" },
	[SOURCE_PHP] = { .size = 10, .bytes = "source-php" },
	[SOURCE_RUBY] = { .size = 11, .bytes = "source-ruby" },
	[SOURCE_JAVA] = { .size = 11, .bytes = "source-java" },
	[SOURCE_WAKERS] = { .size = 6, .bytes = "wakers" },
};
static_assert(ARRAY_SIZE(ids) == SOURCE_LANGUAGE_COUNT_, "one each");

const struct build_id *source_image_id(enum source_language language)
{
	return &ids[language];
}

int source_image_language(const struct manifest_image *image)
{
	int i;

	for (i = 0; image && i < SOURCE_LANGUAGE_COUNT_; i++)
		if (build_id_equal(&image->version.build_id, &ids[i]))
			return i;
	return -1;
}

bool source_image_is(const struct manifest_image *image)
{
	return source_image_language(image) >= 0;
}

char *source_image_path(const char *samples, const char *name)
{
	return xasprintf("%s/source/%016" PRIx64 ".jo", samples, hash_bytes(name, strlen(name)));
}
