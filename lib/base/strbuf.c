/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/strbuf.h"

#include "base/mem.h"

#include <string.h>

void strbuf_add(struct strbuf *b, const void *data, size_t size)
{
	array_grow(&b->text, b->length + size + 1, &b->room);
	if (size)
		memcpy(b->text + b->length, data, size);
	b->length += size;
	b->text[b->length] = '\0';
}

void strbuf_adds(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s));
}

void strbuf_addf(struct strbuf *b, const char *format, ...)
{
	_cleanup_free_ char *s = NULL;
	va_list ap;

	va_start(ap, format);
	s = xvasprintf(format, ap);
	va_end(ap);
	strbuf_adds(b, s);
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

void strbuf_clear(struct strbuf *b)
{
	b->length = 0;
	if (b->text)
		b->text[0] = '\0';
}

void strbuf_done(struct strbuf *b)
{
	free(b->text);
	*b = STRBUF_INIT;
}
