/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mem.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "profile/compact/pack.h"
#include "profile/compact/internal/pack_format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

/* Limit on the window of the decompressor: far more than the writer uses. */
enum { WINDOW_LOG_MAX = 27 };

/* Bytes of a file are handled in pieces of this size. */
enum { PIECE = 64 << 10 };

struct unpack {
	const char *path, *directory;
	int fd;
	ZSTD_DCtx *zstd;
	char *piece; /* as in the file */
	size_t room;
	ZSTD_inBuffer in;
	bool is_frame_end; /* everything read so far is complete and verified */
	uint64_t bytes, files;
	struct pack_limit limit;
	uint64_t written; /* bytes, without those that are holes */
	uint64_t entries; /* files and directories that were made */
	char *last;	  /* name of the file before, or NULL */
	char *name;	  /* name of the next file, from a record; or NULL */
	char *buffer;
	struct error *err;
};

static int bad(struct unpack *u, const char *why)
{
	return error_set(u->err, -EBADMSG, "%s: %s", u->path, why);
}

/* Reads more input if none is left. Returns 1; 0 at the end of the file; or -errno. */
static int refill(struct unpack *u)
{
	ssize_t n;

	if (u->in.pos < u->in.size)
		return 1;
	while ((n = read(u->fd, u->piece, u->room)) < 0 && errno == EINTR)
		;
	if (n < 0)
		return error_errno(u->err, -errno, "cannot read %s", u->path);
	u->in = (ZSTD_inBuffer){ u->piece, (size_t)n, 0 };
	return n > 0;
}

/* Reads exactly @size decompressed bytes. */
static int take(struct unpack *u, char *ret, size_t size)
{
	ZSTD_outBuffer out = { ret, size, 0 };

	while (out.pos < out.size) {
		size_t before = out.pos, left;
		int r = refill(u);

		if (r < 0)
			return r;
		left = ZSTD_decompressStream(u->zstd, &out, &u->in);
		if (ZSTD_isError(left))
			return error_set(u->err, -EBADMSG, "%s: is damaged (%s)", u->path,
					 ZSTD_getErrorName(left));
		if (r == 0 && out.pos == before)
			return bad(u, "is cut short");
		u->is_frame_end = left == 0;
	}
	return 0;
}

/* Skips the zeros after a file; anything else there is ignored, as by tar. */
static int take_padding(struct unpack *u, uint64_t size)
{
	char block[PACK_BLOCK];

	return take(u, block, (size_t)(-size % PACK_BLOCK));
}

/* Returns whether a piece is all zeros, which become a hole. */
static bool is_zero(const char *bytes, size_t size)
{
	return size == 0 || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

/* The limits of a small file that would fill a disk or the memory. */
static int check_limit(struct unpack *u)
{
	if (u->written <= u->limit.bytes && u->entries <= u->limit.entries)
		return 0;
	return error_set(u->err, -EFBIG,
			 "%s: not unpacked: it would take more than %" PRIu64 " MiB or %" PRIu64
			 " files; --max-size=SIZE allows more",
			 u->path, u->limit.bytes >> 20, u->limit.entries);
}

/* Counts the file @name, and the directories in it that the file before did not need. */
static int count_entry(struct unpack *u, const char *name)
{
	const char *at = name, *last = u->last ?: "";

	while (*at && *at == *last++)
		at++;
	u->entries++;
	while ((at = strchr(at, '/'))) {
		u->entries++;
		at++;
	}
	free(u->last);
	u->last = xstrdup(name);
	return check_limit(u);
}

static int write_all(struct unpack *u, int fd, const char *bytes, size_t size, const char *to)
{
	int r;

	u->written += size;
	r = check_limit(u);
	if (r < 0)
		return r;
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno != EINTR)
			return error_errno(u->err, -errno, "cannot write %s", to);
		if (n > 0) {
			bytes += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

static int take_content(struct unpack *u, const struct pack_header *h, int fd, const char *to)
{
	uint64_t left = h->size;

	while (left) {
		size_t size = MIN(left, (uint64_t)PIECE);
		int r = take(u, u->buffer, size);

		if (r == 0 && !is_zero(u->buffer, size))
			r = write_all(u, fd, u->buffer, size, to);
		else if (r == 0 && lseek(fd, (off_t)size, SEEK_CUR) < 0)
			r = error_errno(u->err, -errno, "cannot write %s", to);
		if (r < 0)
			return r;
		left -= size;
	}
	if (ftruncate(fd, (off_t)h->size) < 0)
		return error_errno(u->err, -errno, "cannot write %s", to);
	return 0;
}

static int take_file(struct unpack *u, const struct pack_header *h, const char *name)
{
	struct timespec times[2] = { { .tv_sec = (time_t)h->mtime },
				     { .tv_sec = (time_t)h->mtime } };
	_cleanup_free_ char *to = path_join(u->directory, name);
	_cleanup_close_ int fd = -1;
	int r;

	if (!pack_name_is_safe(name))
		return error_set(u->err, -EBADMSG,
				 "%s: not unpacked: '%s' would be outside the archive", u->path,
				 name);
	r = count_entry(u, name);
	if (r == 0)
		r = path_make_parents(to, 0700, u->err);
	if (r < 0)
		return r;
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		return error_set(u->err, -EBADMSG, "%s: contains %s twice", u->path, name);
	if (fd < 0)
		return error_errno(u->err, -errno, "cannot create %s", to);
	r = take_content(u, h, fd, to);
	if (r == 0 && futimens(fd, times) < 0)
		r = error_errno(u->err, -errno, "cannot write %s", to);
	return r < 0 ? r : take_padding(u, h->size);
}

/* Takes the name of the next file. */
static int take_records(struct unpack *u, const struct pack_header *h)
{
	const char *value;
	size_t size;
	int r;

	if (h->size > PACK_NAME_MAX + PACK_BLOCK || u->name)
		return bad(u, "a record is too long");
	r = take(u, u->buffer, h->size);
	if (r < 0)
		return r;
	if (!pack_format_find(u->buffer, h->size, "path", &value, &size) ||
	    memchr(value, '\0', size))
		return bad(u, "a record is malformed");
	u->name = xstrndup(value, size);
	return take_padding(u, h->size);
}

static int take_entry(struct unpack *u, const struct pack_header *h)
{
	_cleanup_free_ char *name = NULL;

	if (h->size > PACK_BYTES_MAX || (u->bytes += h->size) > PACK_BYTES_MAX ||
	    ++u->files > PACK_FILES_MAX)
		return error_set(u->err, -EBADMSG,
				 "%s: not unpacked: it would be larger than %" PRIu64
				 " GiB or %d files (at %s)",
				 u->path, PACK_BYTES_MAX >> 30, PACK_FILES_MAX, h->name);
	if (h->kind == PACK_EXTENDED)
		return take_records(u, h);
	if (h->kind != PACK_REGULAR)
		return error_set(
			u->err, -EBADMSG,
			"%s: %s in it is not a regular file, so oparchive did not write it",
			u->path, h->name);
	name = u->name ? STEAL(u->name) : xstrdup(h->name);
	return take_file(u, h, name);
}

/* Checks the end: a block of zeros, then the end of the compressed data, verified. */
static int check_end(struct unpack *u)
{
	char block[PACK_BLOCK], extra;
	ZSTD_outBuffer none = { &extra, 0, 0 };
	int r = take(u, block, sizeof(block));

	if (r < 0)
		return r;
	if (!pack_format_is_end(block) || u->name)
		return bad(u, "the end is damaged");
	while (!u->is_frame_end) {
		size_t left;

		r = refill(u);
		if (r < 0)
			return r;
		left = ZSTD_decompressStream(u->zstd, &none, &u->in);
		if (ZSTD_isError(left))
			return bad(u, ZSTD_getErrorName(left));
		if (left && r == 0)
			return bad(u, "the end is cut short");
		if (left && u->in.pos < u->in.size)
			return bad(u, "data after the end");
		u->is_frame_end = left == 0;
	}
	return 0;
}

static int unpack_all(struct unpack *u)
{
	char block[PACK_BLOCK];
	struct pack_header h;
	int r;

	while ((r = take(u, block, sizeof(block))) == 0 && !pack_format_is_end(block)) {
		if (pack_format_parse(block, &h) < 0)
			return bad(u, u->files ? "damaged: a file's header is malformed"
					       : "not an archive of oparchive");
		r = take_entry(u, &h);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : check_end(u);
}

/* zstd's own magic number distinguishes other files from damaged ones. */
static int check_magic(struct unpack *u)
{
	int r = refill(u);

	if (r < 0)
		return r;
	if (u->in.size < 4 || memcmp(u->piece, "\x28\xb5\x2f\xfd", 4))
		return bad(u, "not an archive of oparchive, nor a directory with one");
	return 0;
}

struct pack_limit pack_limit(uint64_t size, uint64_t most)
{
	enum { RATIO = 64, ALWAYS_MIB = 64, ENTRIES = 10000 };
	struct pack_limit limit = { .bytes = most ?: PACK_BYTES_MAX, .entries = PACK_FILES_MAX };

	if (most || size > PACK_BYTES_MAX)
		return limit;
	limit.bytes = MIN(PACK_BYTES_MAX, RATIO * size + ((uint64_t)ALWAYS_MIB << 20));
	limit.entries = MIN(limit.entries, ENTRIES + size / 2);
	return limit;
}

int pack_unpack(const char *path, const char *directory, uint64_t most, struct error *err)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
	struct unpack u = { .path = path, .directory = directory, .fd = fd, .err = err };
	struct stat st;
	int r;

	if (fd < 0)
		return error_set(err, fd, "cannot read %s: %s", path, open_regular_why(fd));
	u.zstd = ZSTD_createDCtx();
	if (!u.zstd ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(u.zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
		(void)ZSTD_freeDCtx(u.zstd);
		return error_set(err, -ENOMEM, "%s: cannot start to decompress", path);
	}
	u.limit = pack_limit(fstat(fd, &st) < 0 ? 0 : (uint64_t)st.st_size, most);
	u.room = ZSTD_DStreamInSize();
	u.piece = xmalloc(u.room);
	u.buffer = xmalloc(PIECE);
	r = check_magic(&u);
	if (r == 0)
		r = unpack_all(&u);
	(void)ZSTD_freeDCtx(u.zstd);
	free(u.piece);
	free(u.buffer);
	free(u.name);
	free(u.last);
	return r;
}
