/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/elf/internal/decompress.c: all formats, and small bytes that would become many. */
#include "test.h"

#include "elf/internal/decompress.h"

#include <errno.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

enum { SMALL = 100000, BOMB = 80 << 20, PACKED_MAX = 1 << 20 };

static size_t by_xz(const void *bytes, size_t size, uint8_t *ret)
{
	size_t n = 0;

	CHECK_EQ(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, bytes, size, ret, &n,
					 PACKED_MAX),
		 LZMA_OK);
	return n;
}

static size_t by_gzip(const void *bytes, size_t size, uint8_t *ret)
{
	z_stream s = { .next_in = (Bytef *)bytes,
		       .avail_in = (uInt)size,
		       .next_out = ret,
		       .avail_out = PACKED_MAX };

	CHECK_EQ(deflateInit2(&s, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	CHECK_EQ(deflate(&s, Z_FINISH), Z_STREAM_END);
	(void)deflateEnd(&s);
	return PACKED_MAX - s.avail_out;
}

static size_t by_zstd(const void *bytes, size_t size, uint8_t *ret)
{
	size_t n = ZSTD_compress(ret, PACKED_MAX, bytes, size, 1);

	CHECK(!ZSTD_isError(n));
	return n;
}

static const struct {
	const char *name;
	size_t (*pack)(const void *bytes, size_t size, uint8_t *ret);
} formats[] = { { "xz", by_xz }, { "gzip", by_gzip }, { "zstd", by_zstd } };

/* Unpacks what was packed from @size bytes like @text; @cut bytes are missing at the end. */
static int unpack(size_t format, const void *bytes, size_t size, size_t cut)
{
	_cleanup_free_ uint8_t *packed = xmalloc(PACKED_MAX);
	size_t n = formats[format].pack(bytes, size, packed), length = 0;
	_cleanup_free_ void *back = NULL;
	int r;

	CHECK(decompress_is(packed, n));
	r = decompress(packed, n - cut, &back, &length);
	if (r == 0)
		CHECK(length == size && !memcmp(back, bytes, size));
	return r;
}

static void what_was_packed_comes_back(void)
{
	_cleanup_free_ uint8_t *bytes = xcalloc(1, SMALL);
	size_t i;

	for (i = 0; i < SMALL; i++)
		bytes[i] = (uint8_t)(i * i >> 7);
	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		CHECK_EQ(unpack(i, bytes, SMALL, 0), 0);
		CHECK_EQ(unpack(i, bytes, SMALL, 1), -EBADMSG);
		CHECK_EQ(unpack(i, bytes, SMALL, 100), -EBADMSG);
	}
}

static void bomb_is_too_big(void)
{
	_cleanup_free_ uint8_t *zeros = xcalloc(1, BOMB);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		int r = unpack(i, zeros, BOMB, 0);

		if (r != -EFBIG)
			printf("# %s: %d\n", formats[i].name, r);
		CHECK_EQ(r, -EFBIG);
	}
}

static void other_bytes_are_no_format(void)
{
	void *back;
	size_t length;

	CHECK(!decompress_is("\x7f"
			     "ELF",
			     4));
	CHECK(!decompress_is("", 0));
	CHECK_EQ(decompress("\x7f"
			    "ELF",
			    4, &back, &length),
		 -EBADMSG);
}

static void limit_grows_with_input(void)
{
	CHECK_EQ(decompress_limit(0, UINT64_MAX), 16 << 20);
	CHECK_EQ(decompress_limit(1 << 20, UINT64_MAX), 80 << 20);
	CHECK_EQ(decompress_limit(1 << 20, 1000), 1000);
	CHECK_EQ(decompress_limit(UINT64_MAX / 2, 1000), 1000);
}

TESTS(T(what_was_packed_comes_back), T(bomb_is_too_big), T(other_bytes_are_no_format),
      T(limit_grows_with_input))
