/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include "base/text.h"

#include "base/text.h"

#include <inttypes.h>

static void put_string(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	(void)fputc('"', out);
	while (*s) {
		size_t length = text_utf8_length((const char *)s);

		if (*s == '"' || *s == '\\')
			(void)fprintf(out, "\\%c", *s);
		else if (*s < 0x20)
			(void)fprintf(out, "\\u%04x", *s);
		else if (length == 0)
			(void)fputs("\\ufffd", out);
		else
			(void)fwrite(s, 1, length, out);
		s += length ? length : 1;
	}
	(void)fputc('"', out);
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
		(void)fputs(j->spaced && !j->line ? ", " : ",", j->out);
	put_line(j);
	j->comma = true;
	if (!name)
		return;
	put_string(j->out, name);
	(void)fputs(j->spaced ? ": " : ":", j->out);
}

void json_open(struct json *j, const char *name, char bracket)
{
	put_name(j, name);
	(void)fputc(bracket, j->out);
	j->comma = false;
	j->depth++;
}

void json_close(struct json *j, char bracket)
{
	j->depth--;
	put_line(j);
	(void)fputc(bracket, j->out);
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
	put_name(j, name);
	(void)fprintf(j->out, "%" PRIu64, value);
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
	put_name(j, name);
	(void)fprintf(j->out, "\"0x%" PRIx64 "\"", value);
}
