/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the blocks of a segment (internal/segment_format.h), each of which has a checksum and is
 * compressed. All data is treated as untrusted.
 *
 *	const struct segment_bytes from = { .fd = fd, .size = size };
 *	if (segment_block_read(&from, zstd, &block, &raw) == 0)
 *		free(raw);
 */
#pragma once

#include "history/internal/segment_format.h"

#include <stddef.h>
#include <stdint.h>

struct ZSTD_DCtx_s;

/* The bytes of a segment. */
struct segment_bytes {
	int fd;		      /* or -1: ->bytes */
	const uint8_t *bytes; /* borrowed */
	uint64_t size;
};

/* Copies bytes from @offset on. 0 or -errno: -EBADMSG if there are not so many. */
int segment_bytes_copy(const struct segment_bytes *from, uint64_t offset, void *to, size_t size);
/* Reads a block as it is stored into *@ret; the caller frees. 0 or -errno: -EBADMSG if it is
 * damaged. */
int segment_block_stored(const struct segment_bytes *from, const struct segment_block *b,
			 uint8_t **ret);
/* Reads and decompresses it, with a NUL after it. */
int segment_block_read(const struct segment_bytes *from, struct ZSTD_DCtx_s *zstd,
		       const struct segment_block *b, uint8_t **ret);
