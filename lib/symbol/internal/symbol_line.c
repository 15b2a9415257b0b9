/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/internal/symbol_line.h"

#include "base/span.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

const char *symbol_line_word(const char **at, const char *end, size_t *ret_length)
{
	const char *word = *at, *p;

	while (word < end && is_blank(*word))
		word++;
	for (p = word; p < end && !is_blank(*p); p++)
		;
	*ret_length = (size_t)(p - word);
	*at = p;
	return word;
}

bool symbol_line_address(const char *word, size_t length, uint64_t *ret)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < length; i++) {
		unsigned int digit = (unsigned char)word[i];

		if (digit - '0' < 10)
			digit -= '0';
		else if ((digit | 0x20) - 'a' < 6)
			digit = (digit | 0x20) - 'a' + 10;
		else
			return false;
		value = value << 4 | digit;
	}
	*ret = value;
	return length && length <= 16;
}

/* Parses eight lower-case hexadecimal digits at once; false if they are not. */
static bool parse_digits(const char *at, uint64_t *ret)
{
	const uint64_t ones = 0x0101010101010101ULL;
	uint64_t text = get_le64(at), letters = text >> 6 & ones, low = text & ones * 0x0f, bad;

	/* "0" to "9" are 0x30 to 0x39, "a" to "f" are 0x61 to 0x66. */
	bad = (text >> 4 & ones * 0x0f) ^ (ones * 3 + letters * 3);
	bad |= (low + ones * 6 + letters * 3) & ones << 4;
	bad |= letters << 4 & ~(low + ones * 0x0f);
	if (bad || text & ones << 7)
		return false;
	/* Of two neighbours the first is the upper half. */
	text = low + letters * 9;
	text = (text & 0x00ff00ff00ff00ffULL) << 4 | (text >> 8 & 0x00ff00ff00ff00ffULL);
	text = (text & 0x0000ffff0000ffffULL) << 8 | (text >> 16 & 0x0000ffff0000ffffULL);
	*ret = (text & 0xffff) << 16 | text >> 32;
	return true;
}

/* Parses a line in the form that we write: 16 digits, a blank, the type, a blank, the name. False
 * for any other. */
static bool parse_own(const char *at, const char *end, struct symbol_line *ret)
{
	enum { NAME = 19 };
	uint64_t upper, lower;
	size_t length = (size_t)(end - at) - NAME;

	if (end - at <= NAME || at[16] != ' ' || at[18] != ' ' || is_blank(at[17]) ||
	    !parse_digits(at, &upper) || !parse_digits(at + 8, &lower) ||
	    memchr(at + NAME, ' ', length) || memchr(at + NAME, '\t', length))
		return false;
	ret->address = upper << 32 | lower;
	ret->type = at[17];
	ret->name = at + NAME;
	ret->name_length = length;
	ret->module_length = 0;
	return true;
}

/* As kallsyms_line_parse(), but faster and without changing the text. */
static bool parse_line(const char *at, const char *end, struct symbol_line *ret)
{
	size_t length;
	const char *word = symbol_line_word(&at, end, &length);

	if (!symbol_line_address(word, length, &ret->address))
		return false;
	word = symbol_line_word(&at, end, &length);
	if (length != 1)
		return false;
	ret->type = *word;
	ret->name = symbol_line_word(&at, end, &ret->name_length);
	ret->module = symbol_line_word(&at, end, &length);
	ret->module_length = 0;
	if (length) {
		if (length < 2 || *ret->module != '[' || ret->module[length - 1] != ']')
			return false;
		ret->module++;
		ret->module_length = length - 2;
	}
	return ret->name_length;
}

static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

bool symbol_line_next(const char **at, const char *end, bool plain, struct symbol_line *ret)
{
	const char *newline, *from;

	while (*at < end) {
		from = *at;
		newline = memchr(from, '\n', (size_t)(end - from));
		newline = newline ? newline : end;
		*at = newline + (newline < end);
		if (*from == '#' ||
		    (!parse_own(from, newline, ret) && !parse_line(from, newline, ret)) ||
		    !is_text(ret->type))
			continue;
		if (!plain || (!ret->module_length && ret->address))
			return true;
	}
	return false;
}
