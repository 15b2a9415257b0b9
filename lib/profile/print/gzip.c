/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/gzip.h"

#include "base/macro.h"
#include "base/mem.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

/* A gzip header and trailer, for deflateInit2(). */
enum { GZIP_WINDOW = 15 + 16, GZIP_MEMORY = 9 };

void gzip_print(const void *data, size_t size, size_t most, gzip_put *put, FILE *out)
{
	enum { PORTION = 3 << 14 };
	_cleanup_free_ unsigned char *packed = xmalloc(PORTION);
	const unsigned char *at = data;
	z_stream z = { 0 };
	int result = Z_OK;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		mem_exhausted();
	while (result != Z_STREAM_END && z.total_out <= most) {
		z.next_out = packed;
		z.avail_out = PORTION;
		while (result != Z_STREAM_END && z.avail_out) {
			/* There may be more than zlib's integers can count. */
			z.next_in = (unsigned char *)(uintptr_t)at;
			z.avail_in = (uInt)MIN(size, (size_t)INT_MAX);
			result = deflate(&z, size > INT_MAX ? Z_NO_FLUSH : Z_FINISH);
			if (result == Z_STREAM_ERROR)
				abort();
			size -= (size_t)(z.next_in - at);
			at = z.next_in;
		}
		put(packed, PORTION - z.avail_out, out);
	}
	(void)deflateEnd(&z);
}
