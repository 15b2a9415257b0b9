/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/internal/decompress.h"

#include "base/mem.h"

#include <errno.h>
#include <limits.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* The largest modules, with all debug information, have some ten megabytes. */
#define UNPACKED_MAX ((uint64_t)512 << 20)

enum { RATIO_MAX = 64, ALWAYS_ALLOWED = 16 << 20 };

/* Memory for the decompressor itself: what "xz -9" and "zstd --ultra" need, and more. */
enum { XZ_MEMORY_MAX = 256 << 20, ZSTD_WINDOW_LOG_MAX = 27 };

/* What was unpacked so far. */
struct output {
	char *bytes;
	size_t size, room;
	uint64_t limit;
};

uint64_t decompress_limit(uint64_t size, uint64_t most)
{
	uint64_t limit;

	if (__builtin_mul_overflow(size, RATIO_MAX, &limit) ||
	    __builtin_add_overflow(limit, ALWAYS_ALLOWED, &limit))
		return most;
	return MIN(limit, most);
}

/* Makes room for more, a byte beyond the limit at most; -EFBIG if that is reached. */
static int make_room(struct output *o)
{
	size_t more = o->room ? 2 * o->room : (size_t)1 << 16;

	if (o->size < o->room)
		return 0;
	if (o->size > o->limit)
		return -EFBIG;
	o->room = MIN(more, (size_t)o->limit + 1);
	o->bytes = xrealloc(o->bytes, o->room);
	return 0;
}

static int unpack_xz(const void *bytes, size_t size, struct output *o)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret done = lzma_stream_decoder(&s, XZ_MEMORY_MAX, 0);
	int r = 0;

	s.next_in = bytes;
	s.avail_in = size;
	while (done == LZMA_OK && (r = make_room(o)) == 0) {
		s.next_out = (uint8_t *)o->bytes + o->size;
		s.avail_out = o->room - o->size;
		done = lzma_code(&s, LZMA_FINISH);
		o->size = o->room - s.avail_out;
	}
	lzma_end(&s);
	if (r < 0)
		return r;
	return done == LZMA_STREAM_END	     ? 0
	       : done == LZMA_MEMLIMIT_ERROR ? -EFBIG
	       : done == LZMA_MEM_ERROR	     ? -ENOMEM
					     : -EBADMSG;
}

static int unpack_gzip(const void *bytes, size_t size, struct output *o)
{
	enum { WITH_GZIP_HEADER = 16 };
	z_stream s = { .next_in = (Bytef *)bytes, .avail_in = (uInt)size };
	int done = inflateInit2(&s, MAX_WBITS + WITH_GZIP_HEADER), r = 0;

	if (done != Z_OK)
		return -ENOMEM;
	while (done == Z_OK && (r = make_room(o)) == 0) {
		s.next_out = (Bytef *)o->bytes + o->size;
		s.avail_out = (uInt)(o->room - o->size);
		done = inflate(&s, Z_NO_FLUSH);
		o->size = o->room - s.avail_out;
	}
	(void)inflateEnd(&s);
	if (r < 0)
		return r;
	return done == Z_STREAM_END ? 0 : done == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

static int unpack_zstd(const void *bytes, size_t size, struct output *o)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	ZSTD_inBuffer in = { bytes, size, 0 };
	size_t left = 1, before;
	int r = zstd ? 0 : -ENOMEM;

	if (zstd)
		(void)ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
	/* A file may have several frames; 0 is left at the end of each. */
	while (r == 0 && (left || in.pos < in.size) && (r = make_room(o)) == 0) {
		ZSTD_outBuffer out = { o->bytes, o->room, o->size };

		before = in.pos;
		left = ZSTD_decompressStream(zstd, &out, &in);
		if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
			r = -ENOMEM;
		else if (ZSTD_isError(left) || (left && in.pos == before && out.pos == o->size))
			r = -EBADMSG;
		o->size = out.pos;
	}
	(void)ZSTD_freeDCtx(zstd);
	return r;
}

static const struct {
	const char *magic;
	size_t length;
	int (*unpack)(const void *bytes, size_t size, struct output *o);
} formats[] = {
	{ "\x28\xb5\x2f\xfd", 4, unpack_zstd },
	{ "\xfd"
	  "7zXZ",
	  6, unpack_xz }, /* with the NUL */
	{ "\x1f\x8b", 2, unpack_gzip },
};

/* The number of the format, or of none. */
static size_t format_of(const void *bytes, size_t size)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(formats) && (size < formats[i].length ||
					   memcmp(bytes, formats[i].magic, formats[i].length) != 0))
		i++;
	return i;
}

bool decompress_is(const void *bytes, size_t size)
{
	return format_of(bytes, size) < ARRAY_SIZE(formats);
}

int decompress(const void *bytes, size_t size, void **ret, size_t *ret_size)
{
	struct output o = { .limit = decompress_limit(size, UNPACKED_MAX) };
	size_t format = format_of(bytes, size);
	int r = size > UNPACKED_MAX		? -EFBIG
		: format == ARRAY_SIZE(formats) ? -EBADMSG
						: formats[format].unpack(bytes, size, &o);

	if (r == -ENOMEM)
		mem_exhausted();
	if (r < 0) {
		free(o.bytes);
		return r;
	}
	*ret = o.bytes;
	*ret_size = o.size;
	return 0;
}
