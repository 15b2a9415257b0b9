/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/segment_block.h"

#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

int segment_bytes_copy(const struct segment_bytes *from, uint64_t offset, void *to, size_t size)
{
	ssize_t got;

	if (offset > from->size || size > from->size - offset)
		return -EBADMSG;
	if (from->fd < 0) {
		memcpy(to, from->bytes + offset, size);
		return 0;
	}
	got = pread(from->fd, to, size, (off_t)offset);
	return got < 0 ? -errno : got == (ssize_t)size ? 0 : -EBADMSG;
}

int segment_block_stored(const struct segment_bytes *from, const struct segment_block *b,
			 uint8_t **ret)
{
	_cleanup_free_ uint8_t *stored = NULL;
	int r;

	if (b->size > SEGMENT_BLOCK_MAX || b->stored > from->size)
		return -EBADMSG;
	stored = xmalloc((size_t)b->stored + 1);
	r = segment_bytes_copy(from, b->offset, stored, b->stored);
	if (r < 0)
		return r;
	if ((uint32_t)crc32_z(0, stored, b->stored) != b->crc)
		return -EBADMSG;
	*ret = STEAL(stored);
	return 0;
}

int segment_block_read(const struct segment_bytes *from, ZSTD_DCtx *zstd,
		       const struct segment_block *b, uint8_t **ret)
{
	_cleanup_free_ uint8_t *stored = NULL, *raw = NULL;
	size_t got;
	int r = segment_block_stored(from, b, &stored);

	if (r < 0)
		return r;
	raw = xmalloc((size_t)b->size + 1);
	got = ZSTD_decompressDCtx(zstd, raw, b->size, stored, b->stored);
	if (ZSTD_isError(got) || got != b->size)
		return -EBADMSG;
	raw[b->size] = '\0';
	*ret = STEAL(raw);
	return 0;
}
