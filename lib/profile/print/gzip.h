/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compresses bytes in memory, without a name or a time, so that the same bytes always become the
 * same file.
 *
 *	gzip_print(text, strlen(text), SIZE_MAX, print_bytes, stdout);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Takes a portion of the compressed bytes; all but the last have a multiple of 3, so that base64
 * of them can be joined. */
typedef void gzip_put(const unsigned char *bytes, size_t size, FILE *out);

/* Passes @size bytes at @data to @put, compressed. Stops as soon as these are more than @most, as
 * what is too large need not be known to the end. */
void gzip_print(const void *data, size_t size, size_t most, gzip_put *put, FILE *out);
