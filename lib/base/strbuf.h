/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A string that grows. The buffer is the strbuf's until strbuf_take() hands it over.
 *
 *	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
 *	strbuf_addf(&b, "%s/%u", dir, pid);
 *	return strbuf_take(&b);
 */
#pragma once

#include "base/macro.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf {
	char *text;    /* NUL-terminated, or NULL while nothing was added */
	size_t length; /* without the NUL */
	size_t room;
};

#define STRBUF_INIT ((struct strbuf){ 0 })

/* Appends @size bytes. */
void strbuf_add(struct strbuf *b, const void *data, size_t size);
/* Appends a string. */
void strbuf_adds(struct strbuf *b, const char *s);
/* Appends formatted text. */
void strbuf_addf(struct strbuf *b, const char *format, ...) _printf_(2, 3);
void strbuf_vaddf(struct strbuf *b, const char *format, va_list ap) _printf_(2, 0);
/* Appends a number in decimal, several times as fast as strbuf_addf(). */
void strbuf_addu(struct strbuf *b, uint64_t value);
/* Removes blanks from the end. */
void strbuf_trim(struct strbuf *b);
/* The text so far, "" if there is none; borrowed until the next change. */
const char *strbuf_text(const struct strbuf *b);
/* Appends a number in hexadecimal, padded with zeros to @width digits. */
void strbuf_addx(struct strbuf *b, uint64_t value, unsigned int width);
/* Appends a number in 7 bits a byte, the lowest first (LEB128); span_uleb() reads it. */
void strbuf_add_uleb(struct strbuf *b, uint64_t value);
/* Hands the text over, "" if there is none; caller frees. The strbuf is empty again. */
char *strbuf_take(struct strbuf *b);
/* Appends @count times @c. */
void strbuf_fill(struct strbuf *b, char c, size_t count);
/* Shortens it to @length, at most its present one. */
void strbuf_cut(struct strbuf *b, size_t length);
/* Empties it but keeps the memory. */
void strbuf_clear(struct strbuf *b);
/* Frees what it holds. */
void strbuf_done(struct strbuf *b);
