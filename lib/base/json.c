/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include "base/text.h"

#include <inttypes.h>

/* Number of characters at @s that need no escape, mostly all. */
static size_t plain_length(const unsigned char *s)
{
	size_t n = 0;

	while (s[n] >= 0x20 && s[n] < 0x80 && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

static void put_string(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	(void)putc_unlocked('"', out);
	for (;;) {
		size_t plain = plain_length(s), length;

		(void)fwrite_unlocked(s, 1, plain, out);
		s += plain;
		if (!*s)
			break;
		length = text_utf8_length((const char *)s);
		if (*s == '"' || *s == '\\')
			(void)fprintf(out, "\\%c", *s);
		else if (*s < 0x20)
			(void)fprintf(out, "\\u%04x", *s);
		else if (length == 0)
			(void)fputs("\\ufffd", out);
		else if (text_control_code((const char *)s))
			(void)fprintf(out, "\\u%04x", text_control_code((const char *)s));
		else
			(void)fwrite(s, 1, length, out);
		s += length ? length : 1;
	}
	(void)putc_unlocked('"', out);
}

static void put_line(struct json *j)
{
	if (j->line)
		(void)fprintf(j->out, "\n%*s", j->spaced ? (int)j->depth * 2 : 0, "");
	j->line = false;
}

static void put_name(struct json *j, const char *name)
{
	if (j->comma)
		(void)fputs_unlocked(j->spaced && !j->line ? ", " : ",", j->out);
	put_line(j);
	j->comma = true;
	if (!name)
		return;
	put_string(j->out, name);
	(void)fputs_unlocked(j->spaced ? ": " : ":", j->out);
}

void json_open(struct json *j, const char *name, char bracket)
{
	put_name(j, name);
	(void)putc_unlocked(bracket, j->out);
	j->comma = false;
	j->depth++;
}

void json_close(struct json *j, char bracket)
{
	j->depth--;
	put_line(j);
	(void)putc_unlocked(bracket, j->out);
	j->comma = true;
}

void json_string(struct json *j, const char *name, const char *value)
{
	put_name(j, name);
	if (value)
		put_string(j->out, value);
	else
		(void)fputs("null", j->out);
}

void json_bytes(struct json *j, const char *name, const char *value)
{
	if (text_is_utf8(value)) {
		json_string(j, name, value);
		return;
	}
	put_name(j, name);
	(void)fputc('"', j->out);
	for (; *value; value++) {
		unsigned char c = (unsigned char)*value;

		if (c == '"' || c == '\\')
			(void)fprintf(j->out, "\\%c", c);
		else if (c < ' ' || c >= 0x80)
			(void)fprintf(j->out, "\\u%04x", c);
		else
			(void)fputc(c, j->out);
	}
	(void)fputc('"', j->out);
}

void json_bool(struct json *j, const char *name, bool value)
{
	put_name(j, name);
	(void)fputs(value ? "true" : "false", j->out);
}

void json_number(struct json *j, const char *name, const char *text)
{
	put_name(j, name);
	(void)fputs(text, j->out);
}

void json_u64(struct json *j, const char *name, uint64_t value)
{
	char digits[20];

	put_name(j, name);
	(void)fwrite_unlocked(digits, 1, text_dec(value, digits), j->out);
}

void json_i64(struct json *j, const char *name, int64_t value)
{
	put_name(j, name);
	(void)fprintf(j->out, "%" PRId64, value);
}

void json_double(struct json *j, const char *name, double value)
{
	put_name(j, name);
	(void)fprintf(j->out, "%.17g", value);
}

void json_line(struct json *j)
{
	j->line = true;
}

void json_hex(struct json *j, const char *name, uint64_t value)
{
	char digits[16];

	put_name(j, name);
	(void)fputs_unlocked("\"0x", j->out);
	(void)fwrite_unlocked(digits, 1, text_hex(value, 1, digits), j->out);
	(void)putc_unlocked('"', j->out);
}
