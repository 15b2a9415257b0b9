/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/strbuf.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

/* Makes room for @size more bytes and the NUL. */
static inline void make_room(struct strbuf *b, size_t size)
{
	if (_unlikely_(b->room - b->length <= size || !b->text))
		array_grow(&b->text, b->length + size + 1, &b->room);
}

void strbuf_add(struct strbuf *b, const void *data, size_t size)
{
	make_room(b, size);
	if (size)
		memcpy(b->text + b->length, data, size);
	b->length += size;
	b->text[b->length] = '\0';
}

void strbuf_add_uleb(struct strbuf *b, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; value > 127; value >>= 7)
		bytes[n++] = (uint8_t)(value | 128);
	bytes[n++] = (uint8_t)value;
	strbuf_add(b, bytes, n);
}

void strbuf_fill(struct strbuf *b, char c, size_t count)
{
	make_room(b, count);
	memset(b->text + b->length, c, count);
	b->length += count;
	b->text[b->length] = '\0';
}

void strbuf_adds(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s));
}

void strbuf_vaddf(struct strbuf *b, const char *format, va_list ap)
{
	enum { GUESS = 64 };
	va_list again;
	int size;

	array_grow(&b->text, b->length + GUESS, &b->room);
	va_copy(again, ap);
	size = vsnprintf(b->text + b->length, b->room - b->length, format, ap);
	if (size >= 0 && (size_t)size >= b->room - b->length) {
		array_grow(&b->text, b->length + (size_t)size + 1, &b->room);
		(void)vsnprintf(b->text + b->length, (size_t)size + 1, format, again);
	}
	va_end(again);
	b->length += size > 0 ? (size_t)size : 0;
	b->text[b->length] = '\0';
}

void strbuf_addf(struct strbuf *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	strbuf_vaddf(b, format, ap);
	va_end(ap);
}

void strbuf_addu(struct strbuf *b, uint64_t value)
{
	char digits[20], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	strbuf_add(b, at, (size_t)(digits + sizeof(digits) - at));
}

void strbuf_addx(struct strbuf *b, uint64_t value, unsigned int width)
{
	static const char hex[] = "0123456789abcdef";
	unsigned int digits = value ? (67 - (unsigned int)__builtin_clzll(value)) / 4 : 1, i;

	if (width > digits)
		strbuf_fill(b, '0', width - digits);
	make_room(b, digits);
	for (i = digits; i; i--, value >>= 4)
		b->text[b->length + i - 1] = hex[value & 15];
	b->length += digits;
	b->text[b->length] = '\0';
}

void strbuf_trim(struct strbuf *b)
{
	while (b->length && b->text[b->length - 1] == ' ')
		b->text[--b->length] = '\0';
}

const char *strbuf_text(const struct strbuf *b)
{
	return b->text ? b->text : "";
}

char *strbuf_take(struct strbuf *b)
{
	char *text = b->text ? b->text : xstrdup("");

	*b = STRBUF_INIT;
	return text;
}

void strbuf_cut(struct strbuf *b, size_t length)
{
	b->length = length;
	if (b->text)
		b->text[length] = '\0';
}

void strbuf_clear(struct strbuf *b)
{
	strbuf_cut(b, 0);
}

void strbuf_done(struct strbuf *b)
{
	free(b->text);
	*b = STRBUF_INIT;
}
