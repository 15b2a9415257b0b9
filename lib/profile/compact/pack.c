/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/compact/pack.h"

#include "base/mem.h"
#include "file/open_regular.h"
#include "file/owner.h"
#include "file/path.h"
#include "profile/compact/internal/pack_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <zstd.h>

/* At this level code and symbols are a third smaller than at zstd's default, at some 15 MB per
 * second. */
enum { LEVEL = 15 };

struct pack_writer {
	char *path, *temporary;
	FILE *out;
	ZSTD_CCtx *zstd;
	char *piece; /* compressed output */
	size_t room;
};

bool pack_name_is_safe(const char *name)
{
	const char *at = name;

	do {
		size_t length = strcspn(at, "/");

		if (length == 0 || (length == 1 && at[0] == '.') ||
		    (length == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		at += length;
	} while (*at++ == '/');
	return strlen(name) < PACK_NAME_MAX;
}

/* Compresses @size bytes; with ZSTD_e_end also flushes. */
static int put(struct pack_writer *w, const void *bytes, size_t size, ZSTD_EndDirective end,
	       struct error *err)
{
	ZSTD_inBuffer in = { bytes, size, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { w->piece, w->room, 0 };

		left = ZSTD_compressStream2(w->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			return error_set(err, -EIO, "%s: %s", w->path, ZSTD_getErrorName(left));
		if (fwrite(w->piece, 1, out.pos, w->out) != out.pos)
			return error_errno(err, errno ? -errno : -EIO, "cannot write %s", w->path);
	} while (in.pos < in.size || (end == ZSTD_e_end && left));
	return 0;
}

int pack_create(const char *path, struct pack_writer **ret, struct error *err)
{
	_cleanup_(pack_writer_freep) struct pack_writer *w = xcalloc(1, sizeof(*w));
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	int fd;

	if (access(path, F_OK) == 0)
		return error_set(err, -EEXIST, "%s: already exists", path);
	w->path = xstrdup(path);
	w->temporary = xasprintf("%s.%d.tmp", path, (int)getpid());
	w->room = ZSTD_CStreamOutSize();
	w->piece = xmalloc(w->room);
	fd = open_regular_new(w->temporary, O_WRONLY, 0600);
	if (fd < 0)
		return error_errno(err, fd, "cannot create %s", path);
	w->out = xfdopen(fd, "w");
	w->zstd = ZSTD_createCCtx();
	if (!w->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1)))
		return error_set(err, -ENOMEM, "%s: cannot start to compress", path);
	*ret = STEAL(w);
	return 0;
}

/* Writes a header, preceded by a record if the name is too long for the header. */
static int put_header(struct pack_writer *w, const char *name, uint64_t size, uint64_t mtime,
		      struct error *err)
{
	char block[PACK_BLOCK];
	int r = 0;

	if (strlen(name) >= PACK_SHORT_NAME) {
		_cleanup_free_ char *record = pack_format_record("path", name);
		size_t length = strlen(record), blocks = pack_format_padded(length);
		_cleanup_free_ char *padded = xcalloc(1, blocks);

		memcpy(padded, record, length);
		pack_format_header("name", PACK_EXTENDED, length, 0, block);
		r = put(w, block, sizeof(block), ZSTD_e_continue, err);
		if (r == 0)
			r = put(w, padded, blocks, ZSTD_e_continue, err);
		name += strlen(name) - (PACK_SHORT_NAME - 1);
	}
	if (r < 0)
		return r;
	pack_format_header(name, PACK_REGULAR, size, mtime, block);
	return put(w, block, sizeof(block), ZSTD_e_continue, err);
}

int pack_add(struct pack_writer *w, const char *name, const void *bytes, size_t size,
	     uint64_t mtime, struct error *err)
{
	static const char zeros[PACK_BLOCK];
	int r;

	if (!pack_name_is_safe(name))
		return error_set(err, -EINVAL, "%s: not a valid file name: %s", w->path, name);
	r = put_header(w, name, size, mtime, err);
	if (r == 0)
		r = put(w, bytes, size, ZSTD_e_continue, err);
	if (r == 0)
		r = put(w, zeros, pack_format_padded(size) - size, ZSTD_e_continue, err);
	return r;
}

/* Files of /proc have size 0, so the bytes are read before the size is known. */
static int add_stream(struct pack_writer *w, const char *name, int from, uint64_t mtime,
		      struct error *err)
{
	_cleanup_free_ char *bytes = NULL;
	_cleanup_free_ char *path = xasprintf("/proc/self/fd/%d", from);
	ssize_t size = path_read(NULL, path, &bytes, err);

	return size < 0 ? (int)size : pack_add(w, name, bytes, (size_t)size, mtime, err);
}

int pack_add_file(struct pack_writer *w, const char *name, const char *from, int flags,
		  uint64_t mtime, struct error *err)
{
	_cleanup_close_ int fd = open_regular(from, O_RDONLY | flags);
	struct stat st;
	void *bytes;
	int r;

	if (fd < 0)
		return error_set(err, fd, "cannot read %s: %s", from, open_regular_why(fd));
	if (fstat(fd, &st) < 0)
		return error_errno(err, -errno, "cannot read %s", from);
	mtime = mtime ?: (uint64_t)st.st_mtime;
	if (st.st_size == 0)
		return add_stream(w, name, fd, mtime, err);
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return error_errno(err, -errno, "cannot read %s", from);
	r = pack_add(w, name, bytes, (size_t)st.st_size, mtime, err);
	(void)munmap(bytes, (size_t)st.st_size);
	return r;
}

int pack_finish(struct pack_writer *w, struct error *err)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	static const char end[2 * PACK_BLOCK];
	int r = put(w, end, sizeof(end), ZSTD_e_end, err), failed;

	if (r < 0)
		return r;
	failed = fclose(w->out);
	w->out = NULL;
	/* link(2), not rename(2): of two writers of one name only one must succeed. */
	if (failed || link(w->temporary, w->path) < 0)
		return error_errno(err, -errno, "cannot write %s", w->path);
	return 0;
}

static void remove_temporary(const char *path)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();

	(void)unlink(path);
}

void pack_writer_free(struct pack_writer *w)
{
	if (!w)
		return;
	if (w->out)
		(void)fclose(w->out);
	if (w->temporary)
		remove_temporary(w->temporary);
	(void)ZSTD_freeCCtx(w->zstd);
	free(w->piece);
	free(w->temporary);
	free(w->path);
	free(w);
}
