/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perfdata/internal/perf_images.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "elf/elf_build_id.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "identity/cookie.h"
#include "perfdata/perf_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* The first cookie of files that are distinguished by build-id; the cookie table ends below it. */
#define FIRST_COOKIE (1ULL << 40)

struct perf_images {
	struct cookie_table *cookies;
	const char *cache;
	struct map by_path;	/* hash of the path: struct perf_file_build_id */
	struct map by_build_id; /* hash of path and build-id: the cookie */
	uint64_t count;
};

static uint64_t text_hash(const char *text)
{
	return hash_bytes(text, strlen(text));
}

struct perf_images *perf_images_new(const struct perf_file *file, struct cookie_table *cookies,
				    const char *cache)
{
	struct perf_images *images = xcalloc(1, sizeof(*images));
	size_t i, count;
	const struct perf_file_build_id *list = perf_file_build_ids(file, &count);

	*images = (struct perf_images){ .cookies = cookies, .cache = cache };
	for (i = 0; i < count; i++)
		(void)map_set(&images->by_path, text_hash(list[i].path), (void *)&list[i]);
	return images;
}

void perf_images_free(struct perf_images *images)
{
	if (!images)
		return;
	map_done(&images->by_path);
	map_done(&images->by_build_id);
	free(images);
}

const struct build_id *perf_images_build_id(const struct perf_file *file, const char *path)
{
	size_t i, count;
	const struct perf_file_build_id *list = perf_file_build_ids(file, &count);

	for (i = 0; i < count; i++)
		if (!strcmp(list[i].path, path))
			return &list[i].id;
	return NULL;
}

uint64_t perf_images_cookie(struct perf_images *images, const char *path, const struct build_id *id)
{
	struct cookie_image image = { .kind = COOKIE_FILE, .path = (char *)path };
	const struct cookie_image *have;
	uint64_t hash;

	hash = hash_add(text_hash(path), hash_bytes(id->bytes, id->size));
	image.cookie = (uint64_t)(uintptr_t)map_get(&images->by_build_id, hash);
	have = image.cookie ? cookie_lookup(images->cookies, image.cookie) : NULL;
	if (have && !strcmp(have->path, path) && build_id_equal(&have->version.build_id, id))
		return image.cookie;
	image.cookie = FIRST_COOKIE + images->count++;
	image.version.build_id = *id;
	cookie_define(images->cookies, &image);
	(void)map_set(&images->by_build_id, hash, (void *)(uintptr_t)image.cookie);
	return image.cookie;
}

/* Whether the file @path has the build-id of @image; its size and mtime are then noted. */
static bool is_file(const char *path, struct cookie_image *image)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
	struct build_id id = { 0 };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || elf_build_id_read_fd(fd, &id) < 0 ||
	    !build_id_equal(&id, &image->version.build_id))
		return false;
	image->version.size = (uint64_t)st.st_size;
	image->version.mtime = (uint64_t)st.st_mtime;
	return true;
}

/* The path of a file in perf's cache; caller frees. */
static char *cached_path(const struct perf_images *images, const struct build_id *id)
{
	char text[BUILD_ID_TEXT];

	(void)build_id_text(id, text);
	return xasprintf("%s/.build-id/%.2s/%s/elf", images->cache, text, text + 2);
}

void perf_images_identify(struct perf_images *images, uint64_t cookie)
{
	const struct cookie_image *have = cookie ? cookie_lookup(images->cookies, cookie) : NULL;
	const struct perf_file_build_id *known;
	_cleanup_free_ char *cached = NULL;
	struct cookie_image image;

	if (!have || have->kind != COOKIE_FILE || have->identified)
		return;
	image = *have;
	image.identified = true;
	known = map_get(&images->by_path, text_hash(image.path));
	if (!image.version.build_id.size && known && !strcmp(known->path, image.path))
		image.version.build_id = known->id;
	image.verified = image.version.build_id.size > 0;
	if (image.verified && !is_file(image.path, &image) && images->cache) {
		cached = cached_path(images, &image.version.build_id);
		if (is_file(cached, &image))
			image.host = cached;
	}
	cookie_define(images->cookies, &image);
}
