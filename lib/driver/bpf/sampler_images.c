/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/sampler_images.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "identity/cookie_identify.h"
#include "identity/opener.h"
#include "stream/evbuf.h"

#include <string.h>

struct entry {
	struct sample_file file;
	uint64_t cookie;
};

struct sampler_images {
	char *root;
	struct cookie_table *cookies;
	struct map by_file; /* hash: entries */
	struct entry **all;
	size_t count, room;

	/* The last file looked up: the next frame is often in the same file. */
	struct sample_file last;
	uint64_t last_ns, last_cookie; /* 0: nothing */
};

struct sampler_images *sampler_images_new(const char *root, struct cookie_table *cookies)
{
	struct sampler_images *t = xcalloc(1, sizeof(*t));

	t->root = xstrdup(root);
	t->cookies = cookies;
	return t;
}

void sampler_images_free(struct sampler_images *t)
{
	if (!t)
		return;
	while (t->count)
		free(t->all[--t->count]);
	map_done(&t->by_file);
	free(t->all);
	free(t->root);
	free(t);
}

static uint64_t hash_file(const struct sample_file *file)
{
	return hash_add(hash_add(file->inode, file->device), file->generation);
}

static struct entry *find(const struct sampler_images *t, const struct sample_file *file)
{
	struct entry *e;

	map_for_each_of(&t->by_file, hash_file(file),
			e) if (!memcmp(&e->file, file, sizeof(*file))) return e;
	return NULL;
}

static struct entry *make(struct sampler_images *t, const struct sample_file *file)
{
	struct entry *e = xcalloc(1, sizeof(*e));

	e->file = *file;
	map_add(&t->by_file, hash_file(file), e);
	array_grow(&t->all, t->count + 1, &t->room);
	t->all[t->count++] = e;
	return e;
}

/* The start of the name that precedes the one ending at @end. */
static size_t name_start(const char *names, size_t end)
{
	size_t at = end - 1; /* its NUL */

	while (at > 0 && names[at - 1])
		at--;
	return at;
}

char *sampler_image_path(const struct sample_image *image)
{
	_cleanup_(strbuf_done) struct strbuf path = STRBUF_INIT;
	size_t end = image->length, start;

	if (image->truncated)
		strbuf_adds(&path, "/...");
	for (; end > 0; end = start) {
		start = name_start(image->path, end);
		strbuf_addf(&path, "/%.*s", (int)(end - start), image->path + start);
	}
	/* As the kernel names files without a directory. */
	if (image->nameless)
		strbuf_adds(&path, " (deleted)");
	return strbuf_take(&path);
}

/* Converts what the kernel calls a file, with its dev_t. */
static struct file_identity identity_of(const struct sample_file *file)
{
	return (struct file_identity){ .device = (uint64_t)(file->device >> 20) << 32 |
						 (file->device & 0xfffff),
				       .inode = file->inode,
				       .generation = file->generation };
}

void sampler_images_add(struct sampler_images *t, const struct sample_image *image)
{
	_cleanup_free_ char *path = sampler_image_path(image);
	const struct file_identity seen = identity_of(&image->seen);
	struct entry *e = find(t, &image->file);
	struct cookie_mapped where;

	t->last_cookie = 0;
	if (!e)
		e = make(t, &image->file);
	/* Others identify the file by stat() of its path. */
	e->cookie = cookie_file(t->cookies, &seen, path);
	where = (struct cookie_mapped){ t->root, image->tgid, image->mapped.start,
					image->mapped.end };
	cookie_identify(t->cookies, e->cookie, &where);
	if (image->sampled)
		cookie_keep(t->cookies, e->cookie, &where);
	else if (image->executed)
		cookie_executed(t->cookies, e->cookie, &where);
}

uint64_t sampler_images_cookie(struct sampler_images *t, const struct sample_file *file,
			       uint32_t tgid, uint64_t now_ns)
{
	const struct cookie_mapped where = { .root = t->root, .tgid = tgid };
	struct entry *e;

	if (t->last_cookie && t->last_ns == now_ns && !memcmp(&t->last, file, sizeof(*file)))
		return t->last_cookie;
	e = find(t, file);
	if (!e)
		return EVBUF_NO_COOKIE;
	t->last = *file;
	t->last_ns = now_ns;
	t->last_cookie = e->cookie = cookie_renew(t->cookies, e->cookie, &where, now_ns);
	return t->last_cookie;
}

size_t sampler_images_walk(const struct sampler_images *t, const struct sampler_images_walk *walk,
			   size_t from, size_t count)
{
	size_t i, end = MIN(from + count, t->count);

	for (i = from; i < end; i++) {
		const struct sample_file *file = &t->all[i]->file;

		if (!walk->unsure || !file->generation)
			walk->each(file, walk->data);
	}
	return end < t->count ? end : 0;
}

void sampler_images_use(struct sampler_images *t, const struct sample_file *file)
{
	const struct entry *e = find(t, file);

	if (e)
		(void)cookie_lookup(t->cookies, e->cookie);
}

size_t sampler_images_sweep(struct sampler_images *t)
{
	size_t swept = cookie_sweep(t->cookies, NULL), i, kept = 0;

	map_done(&t->by_file);
	for (i = 0; i < t->count; i++) {
		struct entry *e = t->all[i];

		if (cookie_lookup(t->cookies, e->cookie)) {
			t->all[kept++] = e;
			map_add(&t->by_file, hash_file(&e->file), e);
		} else {
			free(e);
		}
	}
	t->count = kept;
	t->last_cookie = 0;
	return swept;
}

/* What identity/ has to know of the image, whose path is @path. */
static void describe(const struct sample_image *image, char *path, struct cookie_image *file,
		     struct cookie_mapped *where)
{
	*file = (struct cookie_image){ .kind = COOKIE_FILE,
				       .file = identity_of(&image->seen),
				       .path = path };
	*where = (struct cookie_mapped){ "", image->tgid, image->mapped.start, image->mapped.end };
}

int sampler_image_table(struct opener *opener, const struct sample_image *image,
			struct unwind_rules *rules, struct unwind_table **ret)
{
	_cleanup_free_ char *path = sampler_image_path(image);
	struct cookie_mapped where;
	struct cookie_image file;

	describe(image, path, &file, &where);
	return opener_table(opener, &file, &where, rules, ret);
}

int sampler_image_open(const struct sample_image *image)
{
	_cleanup_free_ char *path = sampler_image_path(image);
	struct cookie_mapped where;
	struct cookie_image file;

	describe(image, path, &file, &where);
	return cookie_open_file(&file, &where);
}
