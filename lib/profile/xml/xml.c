/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/xml/xml.h"

#include "base/text.h"

#include <inttypes.h>

void xml_declare(struct xml *x)
{
	(void)fputs_unlocked("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", x->out);
}

/* Ends the open tag, because its element has content. */
static void end_tag(struct xml *x)
{
	if (x->in_tag)
		(void)putc_unlocked('>', x->out);
	x->in_tag = false;
}

static void new_line(struct xml *x)
{
	unsigned int i;

	(void)putc_unlocked('\n', x->out);
	for (i = 0; i < x->depth; i++)
		(void)putc_unlocked(' ', x->out);
}

void xml_open(struct xml *x, const char *name)
{
	end_tag(x);
	if (x->depth)
		new_line(x);
	(void)putc_unlocked('<', x->out);
	(void)fputs_unlocked(name, x->out);
	x->depth++;
	x->in_tag = true;
	x->in_text = false;
}

void xml_close(struct xml *x, const char *name)
{
	x->depth--;
	if (x->in_tag) {
		(void)fputs_unlocked("/>", x->out);
	} else {
		if (!x->in_text)
			new_line(x);
		(void)fputs_unlocked("</", x->out);
		(void)fputs_unlocked(name, x->out);
		(void)putc_unlocked('>', x->out);
	}
	x->in_tag = x->in_text = false;
	if (x->depth == 0)
		(void)putc_unlocked('\n', x->out);
}

/* The escape of an ASCII character that needs one, or NULL. */
static const char *escape(unsigned char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\t':
		return "&#9;";
	case '\n':
		return "&#10;";
	case '\r':
		return "&#13;";
	default:
		return c < 0x20 ? "\xef\xbf\xbd" : NULL;
	}
}

/* U+FFFE and U+FFFF are no characters of XML. */
static bool is_character(const char *s, size_t length)
{
	return length && !(length == 3 && (uint8_t)s[0] == 0xef && (uint8_t)s[1] == 0xbf &&
			   (uint8_t)s[2] >= 0xbe);
}

/* Whether @c is a whole character that needs no escape. */
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '&' && c != '<' && c != '>' && c != '"';
}

static void put_text(struct xml *x, const char *s)
{
	while (*s) {
		const char *instead;
		size_t length = 0;

		while (is_plain((unsigned char)s[length]))
			length++;
		(void)fwrite_unlocked(s, 1, length, x->out);
		s += length;
		if (!*s)
			return;
		length = text_utf8_length(s);
		instead = length == 1 ? escape((unsigned char)*s) : NULL;
		if (!is_character(s, length))
			instead = "\xef\xbf\xbd";
		if (instead)
			(void)fputs_unlocked(instead, x->out);
		else if (text_control_code(s))
			(void)fprintf(x->out, "&#%u;", text_control_code(s));
		else
			(void)fwrite_unlocked(s, 1, length, x->out);
		s += length ? length : 1;
	}
}

void xml_string(struct xml *x, const char *name, const char *value)
{
	if (!value)
		return;
	(void)putc_unlocked(' ', x->out);
	(void)fputs_unlocked(name, x->out);
	(void)fputs_unlocked("=\"", x->out);
	put_text(x, value);
	(void)putc_unlocked('"', x->out);
}

static void put_attribute(struct xml *x, const char *name, const char *value, size_t size)
{
	(void)putc_unlocked(' ', x->out);
	(void)fputs_unlocked(name, x->out);
	(void)fputs_unlocked("=\"", x->out);
	(void)fwrite_unlocked(value, 1, size, x->out);
	(void)putc_unlocked('"', x->out);
}

void xml_u64(struct xml *x, const char *name, uint64_t value)
{
	char digits[20];

	put_attribute(x, name, digits, text_dec(value, digits));
}

void xml_i64(struct xml *x, const char *name, int64_t value)
{
	(void)fprintf(x->out, " %s=\"%" PRId64 "\"", name, value);
}

void xml_hex(struct xml *x, const char *name, uint64_t value)
{
	char digits[16];

	put_attribute(x, name, digits, text_hex(value, 8, digits));
}

void xml_text_u64(struct xml *x, uint64_t value)
{
	char digits[20];

	end_tag(x);
	x->in_text = true;
	(void)fwrite_unlocked(digits, 1, text_dec(value, digits), x->out);
}

void xml_text_bytes(struct xml *x, const void *bytes, size_t size)
{
	static const char digits[16] = "0123456789ABCDEF";
	const uint8_t *p = bytes;
	char text[1024];
	size_t i, used = 0;

	end_tag(x);
	x->in_text = true;
	for (i = 0; i < size; i++) {
		text[used++] = digits[p[i] >> 4];
		text[used++] = digits[p[i] & 15];
		if (used == sizeof(text) || i + 1 == size) {
			(void)fwrite_unlocked(text, 1, used, x->out);
			used = 0;
		}
	}
}
