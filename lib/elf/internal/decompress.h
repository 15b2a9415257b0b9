/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacks xz, gzip and zstd, as kernel modules and .gnu_debugdata are compressed, within limits:
 * some kilobytes can be made to unpack to any size. bzip2 is left out: no kernel uses it.
 *
 *	void *unpacked;
 *	size_t size;
 *	if (decompress_is(bytes, length) && decompress(bytes, length, &unpacked, &size) == 0)
 *		free(unpacked);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limit for the unpacked size of @size compressed bytes: 64 times as many, and 16 MiB, up to @most.
 * Programs and debug information compress to between a half and a tenth. */
uint64_t decompress_limit(uint64_t size, uint64_t most);

/* Whether the bytes start as one of the formats does. */
bool decompress_is(const void *bytes, size_t size);
/* Unpacks all: 0 with *@ret, which the caller frees; -EBADMSG if the bytes are damaged or cut
 * short; -EFBIG if the result would exceed the limit. */
int decompress(const void *bytes, size_t size, void **ret, size_t *ret_size);
