/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Whether words are separated by single blanks, with none at the ends. */
static bool is_single_spaced(const char *text)
{
	size_t length = strlen(text);

	return length && *text != ' ' && text[length - 1] != ' ' && !strstr(text, "  ");
}

void text_wrap(struct strbuf *out, const char *text, unsigned int indent, unsigned int width)
{
	unsigned int column = indent;
	size_t word;

	if (!width && is_single_spaced(text)) {
		strbuf_adds(out, text);
		strbuf_adds(out, "\n");
		return;
	}
	while (*text) {
		word = strcspn(text, " ");
		if (column > indent) {
			if (width && column + 1 + word > width) {
				strbuf_addf(out, "\n%*s", (int)indent, "");
				column = indent;
			} else {
				strbuf_adds(out, " ");
				column++;
			}
		}
		strbuf_add(out, text, word);
		column += (unsigned int)word;
		text += word;
		text += strspn(text, " ");
	}
	strbuf_adds(out, "\n");
}

unsigned int text_distance(const char *a, const char *b)
{
	enum { MAX_WORD = 64 };
	unsigned int row[MAX_WORD + 1], previous, above, i, j;
	unsigned int n = (unsigned int)strnlen(a, MAX_WORD), m = (unsigned int)strnlen(b, MAX_WORD);

	for (j = 0; j <= m; j++)
		row[j] = j;
	for (i = 1; i <= n; i++) {
		previous = row[0];
		row[0] = i;
		for (j = 1; j <= m; j++) {
			above = row[j];
			previous += a[i - 1] != b[j - 1];
			row[j] = MIN(row[j], row[j - 1]) + 1;
			row[j] = MIN(row[j], previous);
			previous = above;
		}
	}
	return row[m];
}

size_t text_dec(uint64_t value, char out[20])
{
	size_t length = 1, i;
	uint64_t rest;

	for (rest = value; rest >= 10; rest /= 10)
		length++;
	for (i = length; i > 0; value /= 10)
		out[--i] = (char)('0' + value % 10);
	return length;
}

size_t text_hex(uint64_t value, unsigned int digits, char out[16])
{
	size_t length = value ? (67U - (unsigned int)__builtin_clzll(value)) / 4 : 1, i;

	length = MAX(length, digits);
	for (i = length; i > 0; value >>= 4)
		out[--i] = "0123456789abcdef"[value & 15];
	return length;
}

size_t text_utf8_length(const char *s)
{
	/* The range of the second byte excludes overlong forms, surrogates and code points above
	 * U+10FFFF. */
	static const struct {
		uint8_t first, last, low, high, more;
	} rows[] = {
		{ 0x00, 0x7f, 0, 0, 0 },       { 0xc2, 0xdf, 0x80, 0xbf, 1 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 2 }, { 0xe1, 0xec, 0x80, 0xbf, 2 },
		{ 0xed, 0xed, 0x80, 0x9f, 2 }, { 0xee, 0xef, 0x80, 0xbf, 2 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 3 }, { 0xf1, 0xf3, 0x80, 0xbf, 3 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 3 },
	};
	const uint8_t *p = (const uint8_t *)s;
	size_t i = 0, k;

	while (i < ARRAY_SIZE(rows) && (*p < rows[i].first || *p > rows[i].last))
		i++;
	if (i == ARRAY_SIZE(rows))
		return 0;
	if (rows[i].more && (p[1] < rows[i].low || p[1] > rows[i].high))
		return 0;
	for (k = 2; k <= rows[i].more; k++)
		if (p[k] < 0x80 || p[k] > 0xbf)
			return 0;
	return 1U + rows[i].more;
}

bool text_is_utf8(const char *s)
{
	size_t length;

	for (; *s; s += length) {
		length = text_utf8_length(s);
		if (!length)
			return false;
	}
	return true;
}

unsigned int text_width(const char *s)
{
	unsigned int width = 0;

	for (; *s; s++)
		width += ((unsigned char)*s & 0xc0) != 0x80;
	return width;
}

/* Length of the character at @s if it changes the direction of text, by which one name can look
 * like another (U+061C, 200E, 200F, 202A to 202E, 2066 to 2069), or separates lines (U+2028, 2029);
 * else 0. */
static size_t direction_length(const unsigned char *s)
{
	if (s[0] == 0xd8)
		return s[1] == 0x9c ? 2 : 0;
	if (s[0] != 0xe2 || (s[1] != 0x80 && s[1] != 0x81))
		return 0;
	if (s[1] == 0x81)
		return s[2] >= 0xa6 && s[2] <= 0xa9 ? 3 : 0;
	return s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae) ? 3 : 0;
}

/* Length of the control character that starts at @s: C0, DEL, C1 in UTF-8, or a byte that is not
 * UTF-8 and is C1 to a terminal of 8 bits (0x9b starts a sequence there, as ESC [ does); 0 if it is
 * none. */
static size_t control_length(const char *s)
{
	unsigned char c = (unsigned char)s[0], next = (unsigned char)(c ? s[1] : 0);

	if (c < 0x20 || c == 0x7f || (c >= 0x80 && c < 0xa0))
		return 1;
	if (c == 0xc2)
		return next >= 0x80 && next < 0xa0 ? 2 : 0;
	return direction_length((const unsigned char *)s);
}

uint32_t text_control_code(const char *s)
{
	const unsigned char *at = (const unsigned char *)s;
	size_t length = control_length(s);

	if (length == 2)
		return (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu);
	return length == 3 ? (at[0] & 0xfu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu) : 0;
}

/* Whether @size bytes are printable ASCII, as nearly all names are; checks eight at a time. */
static bool is_plain(const char *text, size_t size)
{
	const uint64_t ones = 0x0101010101010101ULL, highs = ones << 7;
	uint64_t bytes;

	for (; size >= sizeof(bytes); text += sizeof(bytes), size -= sizeof(bytes)) {
		memcpy(&bytes, text, sizeof(bytes));
		/* The high bit is or becomes set in bytes above 0x7e and below 0x20. */
		if ((bytes | (bytes + ones) | (bytes - ones * 0x20)) & highs)
			return false;
	}
	for (; size; text++, size--)
		if (*text < 0x20 || *text > 0x7e)
			return false;
	return true;
}

void text_cut(struct strbuf *b, size_t from, unsigned int width)
{
	const char *text = strbuf_text(b) + from, *at = text;
	unsigned int i;

	if (text_width(text) <= width)
		return;
	for (i = 3; i < width; i++)
		at += text_utf8_length(at) ?: 1;
	strbuf_cut(b, from + (size_t)(at - text));
	strbuf_adds(b, "...");
}

void text_visible(struct strbuf *out, const char *text)
{
	const char *from = text;
	size_t length = strlen(text);

	if (is_plain(text, length)) {
		strbuf_add(out, text, length);
		return;
	}

	while (*text) {
		length = control_length(text);
		if (!length) {
			text += text_utf8_length(text) ?: 1;
			continue;
		}
		strbuf_add(out, from, (size_t)(text - from));
		for (; length; length--)
			strbuf_addf(out, "\\x%02x", (unsigned char)*text++);
		from = text;
	}
	strbuf_add(out, from, (size_t)(text - from));
}

void text_visible_line(struct strbuf *out, const char *line, size_t size)
{
	bool has_return = size && line[size - 1] == '\r';
	size_t end = size - has_return, at, n;

	for (at = 0; at < end; at += n + 1) {
		_cleanup_free_ char *part = xstrndup(line + at, end - at);

		n = strcspn(part, "\t");
		part[n] = '\0';
		text_visible(out, part);
		if (at + n < end)
			strbuf_adds(out, line[at + n] ? "\t" : "\\x00");
	}
	if (has_return)
		strbuf_adds(out, "\r");
}

void text_add_field(struct strbuf *b, const char *s)
{
	static const char special[] = "\\\t\n", letter[] = "\\tn";
	const char *found;

	if (!*s)
		strbuf_adds(b, "-");
	else if (!strcmp(s, "-"))
		strbuf_adds(b, "\\-");
	else
		for (;;) {
			size_t plain = strcspn(s, special);

			strbuf_add(b, s, plain);
			s += plain;
			if (!*s)
				break;
			found = strchr(special, *s++);
			strbuf_addf(b, "\\%c", letter[found - special]);
		}
}

void text_shell_word(struct strbuf *out, const char *word)
{
	if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "/._-+:,@%=") == strlen(word)) {
		strbuf_adds(out, word);
		return;
	}
	strbuf_adds(out, "'");
	for (; *word; word++)
		strbuf_adds(out, *word == '\'' ? "'\\''" : (const char[]){ *word, '\0' });
	strbuf_adds(out, "'");
}

int text_unescape_field(char *s)
{
	static const char special[] = "\\\t\n-", letter[] = "\\tn-";
	const char *found;
	char *to;

	if (!strcmp(s, "-"))
		*s = '\0';
	s = to = strchrnul(s, '\\');
	for (; *s; s++, to++) {
		if (*s != '\\') {
			*to = *s;
			continue;
		}
		found = s[1] ? strchr(letter, s[1]) : NULL;
		if (!found)
			return -EBADMSG;
		*to = special[found - letter];
		s++;
	}
	*to = '\0';
	return 0;
}

const char *text_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

char *text_count(uint64_t count, const char *name)
{
	return xasprintf("%" PRIu64 " %s%s", count, name, text_plural(count));
}

char *text_duration(uint64_t seconds)
{
	static const struct {
		uint64_t seconds;
		const char *one, *many;
	} units[] = { { 86400, " day", " days" },
		      { 3600, " h", " h" },
		      { 60, " min", " min" },
		      { 1, " s", " s" } };
	struct strbuf text = STRBUF_INIT;
	size_t i = 0, last;

	while (i + 1 < ARRAY_SIZE(units) && seconds < units[i].seconds)
		i++;
	for (last = MIN(i + 2, ARRAY_SIZE(units)); i < last; i++) {
		uint64_t count = seconds / units[i].seconds;

		seconds %= units[i].seconds;
		if (count)
			strbuf_addf(&text, "%s%" PRIu64 "%s", strbuf_text(&text)[0] ? " " : "",
				    count, count == 1 ? units[i].one : units[i].many);
	}
	return strbuf_take(&text);
}
