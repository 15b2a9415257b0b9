/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/slice_file.h"

#include "base/mem.h"
#include "file/holes.h"
#include "file/open_regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* Before each slice, in host byte order: a machine of the other order finds no slice. */
struct frame {
	uint32_t magic;
	uint32_t crc;	       /* of what follows: the rest of this, and the content */
	uint32_t stored, size; /* bytes of the content, compressed and not */
	int64_t begin_ms, end_ms;
	uint64_t samples, taken, lost, cpu_ms;
};
static_assert(sizeof(struct frame) == 64, "as on disk");

enum {
	MAGIC = 0x314c534f, /* "OSL1" */
	CHECKED = offsetof(struct frame, stored),
	LEVEL = 3,
	/* A slice of ten seconds has some kilobytes. */
	CONTENT_MAX = 64 << 20,
	FILE_MAX = 1 << 30, /* a reader has it in memory */
	FILE_FULL = FILE_MAX - 2 * CONTENT_MAX,
};

struct slice_file {
	char *path;
	int fd;
	off_t length;
	ZSTD_CCtx *zstd;
	uint8_t *bytes; /* a frame and its content */
	size_t room;
};

struct slices {
	uint8_t *bytes;
	size_t size, at;	   /* ->at: after the current slice */
	const struct frame *frame; /* the current one; copied, as it may not be aligned */
	struct frame copy;
	size_t damaged;
	ZSTD_DCtx *zstd;
	uint8_t *content;
	size_t room;
};

static uint32_t checksum(const uint8_t *frame, size_t stored)
{
	return (uint32_t)crc32_z(0, frame + CHECKED, sizeof(struct frame) - CHECKED + stored);
}

/* Whether the times are some that a clock shows: within a thousand years of 1970. */
static bool is_plausible(const struct frame *f)
{
	const int64_t far_ms = INT64_C(1) << 45;

	return f->magic == MAGIC && -far_ms < f->begin_ms && f->begin_ms < f->end_ms &&
	       f->end_ms < far_ms;
}

/* Copies the frame at @at to @ret; false if there is no whole slice. */
static bool frame_at(const struct slices *s, size_t at, struct frame *ret)
{
	if (s->size - at < sizeof(*ret))
		return false;
	memcpy(ret, s->bytes + at, sizeof(*ret));
	return is_plausible(ret) && ret->stored <= s->size - at - sizeof(*ret) &&
	       ret->size <= CONTENT_MAX && checksum(s->bytes + at, ret->stored) == ret->crc;
}

/* --- writing --- */

/* Removes what is after the last whole slice. */
static int cut_rest(struct slice_file *f, struct error *err)
{
	_cleanup_(slices_freep) struct slices *s = NULL;
	struct slice slice;
	size_t end = 0;
	int r = slices_read(f->path, &s, err);

	if (r < 0)
		return r;
	while (slices_next(s, &slice))
		end = s->at;
	f->length = (off_t)end;
	if (end < s->size && ftruncate(f->fd, f->length) < 0)
		return error_errno(err, -errno, "%s", f->path);
	return 0;
}

int slice_file_open(const char *path, struct slice_file **ret, struct error *err)
{
	_cleanup_(slice_file_closep) struct slice_file *f = xcalloc(1, sizeof(*f));
	int r;

	f->path = xstrdup(path);
	f->fd = open_regular_or_create(path, O_WRONLY | O_APPEND, 0644);
	if (f->fd < 0)
		return error_set(err, f->fd, "%s: %s", path, open_regular_why(f->fd));
	r = cut_rest(f, err);
	if (r < 0)
		return r;
	f->zstd = ZSTD_createCCtx();
	if (!f->zstd)
		return error_errno(err, -ENOMEM, "%s", path);
	*ret = STEAL(f);
	return 0;
}

void slice_file_close(struct slice_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		(void)close(f->fd);
	(void)ZSTD_freeCCtx(f->zstd);
	free(f->bytes);
	free(f->path);
	free(f);
}

bool slice_file_is_full(const struct slice_file *f)
{
	return f->length >= FILE_FULL;
}

int slice_file_add(struct slice_file *f, const struct slice *slice, const void *content,
		   size_t size, struct error *err)
{
	struct frame frame = { .magic = MAGIC,
			       .size = (uint32_t)size,
			       .begin_ms = slice->span.begin_ms,
			       .end_ms = slice->span.end_ms,
			       .samples = slice->samples,
			       .taken = slice->taken,
			       .lost = slice->lost,
			       .cpu_ms = slice->cpu_ms };
	size_t stored, length;
	ssize_t written;

	if (size > CONTENT_MAX)
		return error_set(err, -EFBIG, "%s: a slice of %zu bytes", f->path, size);
	array_grow(&f->bytes, sizeof(frame) + ZSTD_compressBound(size), &f->room);
	stored = ZSTD_compressCCtx(f->zstd, f->bytes + sizeof(frame), f->room - sizeof(frame),
				   content, size, LEVEL);
	if (ZSTD_isError(stored))
		return error_set(err, -EIO, "%s: %s", f->path, ZSTD_getErrorName(stored));
	frame.stored = (uint32_t)stored;
	memcpy(f->bytes, &frame, sizeof(frame));
	frame.crc = checksum(f->bytes, stored);
	memcpy(f->bytes, &frame, sizeof(frame));
	length = sizeof(frame) + stored;
	written = write(f->fd, f->bytes, length);
	if (written != (ssize_t)length) {
		int why = written < 0 ? -errno : -ENOSPC;

		(void)!ftruncate(f->fd, f->length);
		return error_errno(err, why, "cannot write %s", f->path);
	}
	f->length += (off_t)length;
	return 0;
}

/* --- reading --- */

static int read_all(struct slices *s, int fd)
{
	ssize_t got = 1;
	size_t room = s->size;

	s->size = 0;
	s->bytes = xmalloc(room + 1);
	while (got > 0 && s->size < room) {
		got = read(fd, s->bytes + s->size, room - s->size);
		if (got < 0)
			return -errno;
		s->size += (size_t)got;
	}
	return 0;
}

int slices_read(const char *path, struct slices **ret, struct error *err)
{
	_cleanup_(slices_freep) struct slices *s = xcalloc(1, sizeof(*s));
	_cleanup_close_ int fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
	struct stat st;
	int r;

	if (fd < 0)
		return error_set(err, fd, "%s: %s", path, open_regular_why(fd));
	if (fstat(fd, &st) < 0)
		return error_errno(err, -errno, "%s", path);
	if (holes_prevail(fd, (uint64_t)st.st_size))
		return error_set(err, -EBADMSG, "%s: %s", path, holes_text);
	if (st.st_size > FILE_MAX)
		return error_set(err, -EFBIG, "%s: too large", path);
	s->size = (size_t)st.st_size;
	r = read_all(s, fd);
	if (r < 0)
		return error_errno(err, r, "%s", path);
	s->zstd = ZSTD_createDCtx();
	if (!s->zstd)
		return error_errno(err, -ENOMEM, "%s", path);
	*ret = STEAL(s);
	return 0;
}

void slices_free(struct slices *s)
{
	if (!s)
		return;
	(void)ZSTD_freeDCtx(s->zstd);
	free(s->bytes);
	free(s->content);
	free(s);
}

/* Returns where the next whole slice begins, from @at on; the end if there is none. */
static size_t find_frame(const struct slices *s, size_t at, struct frame *ret)
{
	const uint32_t magic = MAGIC;
	const uint8_t *found;

	while (!frame_at(s, at, ret)) {
		found = at < s->size
				? memmem(s->bytes + at + 1, s->size - at - 1, &magic, sizeof(magic))
				: NULL;
		if (!found)
			return s->size;
		at = (size_t)(found - s->bytes);
	}
	return at;
}

bool slices_next(struct slices *s, struct slice *ret)
{
	size_t at = find_frame(s, s->at, &s->copy);

	s->damaged += at - s->at;
	s->at = at;
	s->frame = at < s->size ? &s->copy : NULL;
	if (!s->frame)
		return false;
	s->at += sizeof(*s->frame) + s->frame->stored;
	*ret = (struct slice){ .span = { s->frame->begin_ms, s->frame->end_ms },
			       .samples = s->frame->samples,
			       .taken = s->frame->taken,
			       .lost = s->frame->lost,
			       .cpu_ms = s->frame->cpu_ms };
	return true;
}

const void *slices_content(struct slices *s, size_t *ret_size)
{
	const struct frame *f = s->frame;
	size_t got;

	array_grow(&s->content, (size_t)f->size + 1, &s->room);
	got = ZSTD_decompressDCtx(s->zstd, s->content, f->size, s->bytes + s->at - f->stored,
				  f->stored);
	if (ZSTD_isError(got) || got != f->size)
		return NULL;
	*ret_size = got;
	return s->content;
}

size_t slices_damaged(const struct slices *s)
{
	return s->damaged;
}

static void add_to_span(struct window *span, int64_t begin_ms, int64_t end_ms)
{
	span->begin_ms = MIN(span->begin_ms, begin_ms);
	span->end_ms = MAX(span->end_ms, end_ms);
}

/* Finds the span by reading all, because a header is damaged: 0 or -errno. */
static int span_of_whole(const char *path, struct window *span)
{
	_cleanup_(slices_freep) struct slices *s = NULL;
	struct slice slice;
	int r = slices_read(path, &s, NULL);

	*span = (struct window){ INT64_MAX, INT64_MIN };
	while (r == 0 && slices_next(s, &slice))
		add_to_span(span, slice.span.begin_ms, slice.span.end_ms);
	return r;
}

int slices_span(const char *path, struct window *ret)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
	struct window span = { INT64_MAX, INT64_MIN };
	struct stat st;
	struct frame f;
	off_t at = 0;
	int r = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	while (pread(fd, &f, sizeof(f), at) == sizeof(f) && is_plausible(&f)) {
		add_to_span(&span, f.begin_ms, f.end_ms);
		at += (off_t)(sizeof(f) + f.stored);
	}
	/* The writer may be adding one. */
	if (at < st.st_size)
		r = span_of_whole(path, &span);
	if (r < 0)
		return r;
	if (span.begin_ms >= span.end_ms)
		return -ENODATA;
	*ret = span;
	return 0;
}
