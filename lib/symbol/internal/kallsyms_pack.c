/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/internal/kallsyms_pack.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/open_regular.h"
#include "file/path.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* More is not what a kernel has: images, and the lines of all of them together. */
enum { IMAGES_MAX = 8192, NAME_SIZE_MAX = 256, TEXT_SIZE_MAX = 64 << 20 };
/* What a later level saves is not worth the time: the file is shared. */
enum { LEVEL = 3 };

/* The skippable frame before each image, in little endian; the name follows. */
struct header {
	uint32_t magic, frame_size; /* zstd's; the size of what follows */
	uint64_t start, end;
	uint64_t size;	    /* of the compressed lines, which come next */
	uint64_t text_size; /* of the lines */
};
enum { HEADER_REST = sizeof(struct header) - 2 * sizeof(uint32_t) };

/* Takes the image at @*at; false if it is damaged. */
static bool take_image(struct kallsyms_pack *p, size_t *at)
{
	const char *from = (const char *)p->map + *at;
	size_t left = p->map_size - *at, name_size;
	struct kallsyms_packed image = { 0 };
	struct header h;

	if (left < sizeof(h) || p->count == IMAGES_MAX)
		return false;
	memcpy(&h, from, sizeof(h));
	if (le32toh(h.magic) != ZSTD_MAGIC_SKIPPABLE_START || le32toh(h.frame_size) < HEADER_REST)
		return false;
	name_size = le32toh(h.frame_size) - HEADER_REST;
	image.text_size = le64toh(h.text_size);
	image.size = le64toh(h.size);
	left -= sizeof(h);
	if (name_size > left || name_size > NAME_SIZE_MAX ||
	    memchr(from + sizeof(h), '\0', name_size) || image.size > left - name_size ||
	    !image.size || !image.text_size || image.text_size > TEXT_SIZE_MAX - p->text_size)
		return false;
	p->text_size += image.text_size;
	image.start = le64toh(h.start);
	image.end = le64toh(h.end);
	image.bytes = from + sizeof(h) + name_size;
	image.name = xstrndup(from + sizeof(h), name_size);
	*at += sizeof(h) + name_size + image.size;
	array_grow(&p->images, p->count + 1, &p->room);
	p->images[p->count++] = image;
	return true;
}

int kallsyms_pack_open(const char *path, struct kallsyms_pack **ret, struct error *err)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY | O_NOFOLLOW);

	if (fd < 0)
		return error_set(err, fd, "%s: %s", path, open_regular_why(fd));
	return kallsyms_pack_map(fd, path, ret, err);
}

int kallsyms_pack_map(int fd, const char *path, struct kallsyms_pack **ret, struct error *err)
{
	_cleanup_(kallsyms_pack_freep) struct kallsyms_pack *p = xcalloc(1, sizeof(*p));
	struct stat st;
	size_t at = 0;

	if (fstat(fd, &st) < 0)
		return error_errno(err, -errno, "%s", path);
	if (st.st_size > TEXT_SIZE_MAX)
		return error_set(err, -EBADMSG, "%s: too large for symbols of a kernel", path);
	p->map_size = (size_t)st.st_size;
	p->map = p->map_size ? mmap(NULL, p->map_size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	if (p->map == MAP_FAILED) {
		p->map = NULL;
		return error_errno(err, -errno, "%s", path);
	}
	while (at < p->map_size)
		if (!take_image(p, &at))
			return error_set(err, -EBADMSG, "%s: the kernel's symbols are damaged",
					 path);
	*ret = STEAL(p);
	return 0;
}

void kallsyms_pack_free(struct kallsyms_pack *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->count; i++) {
		free(p->images[i].name);
		free(p->images[i].text);
	}
	free(p->images);
	if (p->map)
		(void)munmap(p->map, p->map_size);
	free(p);
}

char *kallsyms_pack_text(const struct kallsyms_packed *image)
{
	unsigned long long claimed = ZSTD_getFrameContentSize(image->bytes, image->size);
	_cleanup_free_ char *text = NULL;
	size_t n;

	if (claimed != image->text_size)
		return NULL;
	text = xmalloc(image->text_size + 1);
	n = ZSTD_decompress(text, image->text_size, image->bytes, image->size);
	if (ZSTD_isError(n) || n != image->text_size)
		return NULL;
	text[n] = '\0';
	return STEAL(text);
}

/* --- sharing --- */

/* Whether both have the same lines. */
static bool same_image(const struct kallsyms_packed *a, const struct kallsyms_packed *b)
{
	_cleanup_free_ char *text = NULL;

	if (a->bytes)
		return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
	text = kallsyms_pack_text(b);
	return text && !memcmp(a->text, text, a->text_size);
}

static bool same_images(const struct kallsyms_pack *a, const struct kallsyms_pack *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (strcmp(a->images[i].name, b->images[i].name) != 0 ||
		    a->images[i].start != b->images[i].start ||
		    a->images[i].end != b->images[i].end ||
		    a->images[i].text_size != b->images[i].text_size)
			return false;
	for (i = 0; i < a->count; i++)
		if (!same_image(&a->images[i], &b->images[i]))
			return false;
	return true;
}

/* Links the file @name of the directory @all as @path if it has these images, and whoever may read
 * and change @own, a new file, may do so with it, and nobody else. */
static bool link_same(const struct kallsyms_pack *p, int all, const char *name, const char *path,
		      const struct stat *own)
{
	_cleanup_(kallsyms_pack_freep) struct kallsyms_pack *there = NULL;
	_cleanup_close_ int fd = open_regular_at(all, name, O_RDONLY | O_NOFOLLOW);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == own->st_uid &&
	       st.st_gid == own->st_gid && st.st_mode == own->st_mode &&
	       kallsyms_pack_map(fd, name, &there, NULL) == 0 && same_images(p, there) &&
	       path_link(fd, path) == 0;
}

/* Finds the same file in the other sessions of the directory, and links it. */
static bool share(const struct kallsyms_pack *p, const char *path, const struct stat *own)
{
	_cleanup_free_ char *all = xasprintf("%.*s..", (int)(path_base(path) - path), path);
	int fd = open(all, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool is_shared = false;

	while (dir && !is_shared && (entry = readdir(dir))) {
		_cleanup_free_ char *name = xasprintf("%s/%s", entry->d_name, path_base(path));

		is_shared = entry->d_name[0] != '.' && link_same(p, fd, name, path, own);
	}
	if (dir)
		(void)closedir(dir);
	return is_shared;
}

/* --- writing --- */

static int add_image(struct strbuf *to, const struct kallsyms_packed *image, ZSTD_CCtx *zstd)
{
	size_t name_size = strlen(image->name), size = image->size, room;
	_cleanup_free_ char *packed = NULL;
	struct header h;

	if (!image->bytes) {
		room = ZSTD_compressBound(image->text_size);
		packed = xmalloc(room);
		size = ZSTD_compress2(zstd, packed, room, image->text, image->text_size);
		if (ZSTD_isError(size))
			return -ENOMEM;
	}
	h = (struct header){ .magic = htole32(ZSTD_MAGIC_SKIPPABLE_START),
			     .frame_size = htole32((uint32_t)(HEADER_REST + name_size)),
			     .start = htole64(image->start),
			     .end = htole64(image->end),
			     .size = htole64(size),
			     .text_size = htole64(image->text_size) };
	strbuf_add(to, &h, sizeof(h));
	strbuf_add(to, image->name, name_size);
	strbuf_add(to, packed ? packed : image->bytes, size);
	return 0;
}

/* Returns what the file of these images has; 0 or -errno. */
static int compress(const struct kallsyms_pack *p, struct strbuf *to)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	int r = zstd ? 0 : -ENOMEM;
	size_t i;

	if (zstd) {
		(void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
		(void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	}
	for (i = 0; r == 0 && i < p->count; i++)
		r = add_image(to, &p->images[i], zstd);
	(void)ZSTD_freeCCtx(zstd);
	return r;
}

static int write_all(int fd, const struct strbuf *bytes)
{
	size_t done = 0;
	ssize_t n;

	while (done < bytes->length) {
		n = write(fd, bytes->text + done, bytes->length - done);
		if (n == 0 || (n < 0 && errno != EINTR))
			return n < 0 ? -errno : -ENOSPC;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int kallsyms_pack_write(struct kallsyms_pack *p, const char *path, struct error *err)
{
	_cleanup_free_ char *temporary = xasprintf("%s.%d.tmp", path, (int)getpid());
	_cleanup_close_ int fd = open_regular_new(temporary, O_WRONLY, 0644);
	_cleanup_(strbuf_done) struct strbuf bytes = STRBUF_INIT;
	struct stat own;
	int r;

	if (fd < 0)
		return error_errno(err, fd, "cannot create %s", temporary);
	if (fstat(fd, &own) == 0 && share(p, path, &own)) {
		(void)path_put(temporary, path, 0, -EEXIST);
		return 0;
	}
	r = compress(p, &bytes);
	r = path_publish(fd, temporary, path, r < 0 ? r : write_all(fd, &bytes));
	return r < 0 ? error_errno(err, r, "cannot write %s", path) : 0;
}
