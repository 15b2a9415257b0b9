/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The payload of a recorded stream's chunk that describes a cookie, and the parts that all chunks
 * consist of.
 *
 *	cookie_chunk_add(&b, image);
 *	cookie_chunk_read(span_of(payload, size), cookies);
 */
#pragma once

#include "base/span.h"
#include "base/strbuf.h"

#include <stdint.h>

struct cookie_image;
struct cookie_table;

/* Adds a number to @b. */
void chunk_put_u32(struct strbuf *b, uint32_t value);
void chunk_put_u64(struct strbuf *b, uint64_t value);
/* Adds text, NUL and zeros up to a multiple of eight. */
void chunk_put_text(struct strbuf *b, const char *text);
/* Moves past the zeros that fill the last word of a text. */
void chunk_skip_padding(struct span *in);

/* Adds the description of @image to @b. */
void cookie_chunk_add(struct strbuf *b, const struct cookie_image *image);
/* Defines in @cookies what @in describes; 0 or -EBADMSG. */
int cookie_chunk_read(struct span in, struct cookie_table *cookies);
