/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that people read. */
#include "test.h"

#include "base/strbuf.h"
#include "base/text.h"

#include <errno.h>

static void long_errors_end_in_dots(void)
{
	struct error err = ERROR_INIT;
	char text[3000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK_EQ(error_set(&err, -EIO, "%s", text), -EIO);
	CHECK_EQ(strlen(err.text), sizeof(err.text) - 1);
	CHECK_STR(err.text + sizeof(err.text) - 4, "...");
}

static void text_wraps_at_blanks(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	text_wrap(&b, "one two three", 2, 9);
	CHECK_STR(strbuf_text(&b), "one two\n  three\n");
	CHECK_EQ(text_distance("symbls", "symbols"), 1);
}

static void control_characters_become_visible(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	text_visible(&b, "");
	CHECK_STR(strbuf_text(&b), "");
	text_visible(&b, "a\x1b[31m\n\x7f \xc3\xbc\xc2\x9b\xc2\xa0\xff");
	CHECK_STR(strbuf_text(&b), "a\\x1b[31m\\x0a\\x7f \xc3\xbc\\xc2\\x9b\xc2\xa0\xff");
	CHECK_EQ(text_width("\xc3\xbc\xe2\x82\xac!"), 3);
	/* Marks that change the direction of text, and their neighbours. */
	strbuf_clear(&b);
	text_visible(&b,
		     "\xe2\x80\xae\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xa6\xd8\x9c\xd8\x9d\xe2\x80");
	CHECK_STR(strbuf_text(&b),
		  "\\xe2\\x80\\xae\xe2\x80\xaf\xe2\x81\xa5\\xe2\\x81\\xa6\\xd8\\x9c"
		  "\xd8\x9d\xe2\\x80");
	strbuf_clear(&b);
	/* A terminal of 8 bits obeys 0x9b; in U+1F41B and after a lead byte that is cut short. */
	text_visible(&b, "\x9b\x33m \xf0\x9f\x90\x9b \xe2\x9bx");
	CHECK_STR(strbuf_text(&b), "\\x9b3m \xf0\x9f\x90\x9b \xe2\\x9bx");
}

static void lines_keep_tabs_and_their_end(void)
{
	static const struct {
		const char *line;
		size_t size;
		const char *visible;
	} rows[] = {
		{ "", 0, "" },
		{ "\tif (a)\t/* b */", 15, "\tif (a)\t/* b */" },
		{ "a\rb\r", 4, "a\\x0db\r" },
		{ "\t\x1b]0;title\a\t", 12, "\t\\x1b]0;title\\x07\t" },
		{ "a\0b\0", 4, "a\\x00b\\x00" },
		{ "cut here", 3, "cut" },
	};
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		strbuf_clear(&b);
		text_visible_line(&b, rows[i].line, rows[i].size);
		CHECK_STR(strbuf_text(&b), rows[i].visible);
	}
}

static void one_control_character_anywhere_is_seen(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	unsigned int byte, at;

	for (byte = 1; byte < 256; byte++) {
		for (at = 0; at < 19; at++) {
			bool control = byte < 0x20 || byte == 0x7f || (byte >= 0x80 && byte < 0xa0);
			char text[20] = "abcdefghijklmnopqrs", want[24];

			text[at] = (char)byte;
			strbuf_clear(&b);
			text_visible(&b, text);
			(void)snprintf(want, sizeof(want), control ? "%.*s\\x%02x%s" : "%.*s%c%s",
				       (int)at, text, byte, text + at + 1);
			CHECK_STR(strbuf_text(&b), want);
		}
	}
}

static void strings_take_numbers_and_formats_of_any_length(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	char want[400];

	strbuf_addu(&b, 0);
	strbuf_addu(&b, UINT64_MAX);
	CHECK_STR(strbuf_text(&b), "018446744073709551615");
	strbuf_cut(&b, 1);
	strbuf_addf(&b, "%s%300d", "x", 7);
	(void)snprintf(want, sizeof(want), "0x%300d", 7);
	CHECK_STR(strbuf_text(&b), want);
	CHECK_EQ(b.length, 302);
	strbuf_clear(&b);
	strbuf_addx(&b, 0, 0);
	strbuf_fill(&b, '-', 3);
	strbuf_addx(&b, 0xabc, 8);
	strbuf_addx(&b, UINT64_MAX, 2);
	CHECK_STR(strbuf_text(&b), "0---00000abcffffffffffffffff");
}

static void utf8_is_distinguished_from_other_bytes(void)
{
	static const struct {
		const char *text;
		bool is;
	} rows[] = {
		{ "", true },
		{ "a/b", true },
		{ "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80", true },
		{ "\xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf", true },
		{ "\xfc", false },
		{ "\x80", false },
		{ "\xc3", false },
		{ "\xc0\xaf", false },
		{ "\xe2\x82", false },
		{ "\xe0\x80\xaf", false },
		{ "\xed\xa0\x80", false },
		{ "\xf0\x80\x80\x80", false },
		{ "\xf4\x90\x80\x80", false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!CHECK(text_is_utf8(rows[i].text) == rows[i].is))
			printf("# row %zu\n", i);
}

static void words_are_quoted_for_a_shell(void)
{
	static const char *const rows[][2] = { { "/a/b-c.d_e:f=g", "/a/b-c.d_e:f=g" },
					       { "image:a b", "'image:a b'" },
					       { "$(x);*", "'$(x);*'" },
					       { "it's", "'it'\\''s'" },
					       { "", "''" } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

		text_shell_word(&b, rows[i][0]);
		CHECK_STR(strbuf_text(&b), rows[i][1]);
	}
}

static void long_text_is_cut_by_characters(void)
{
	static const struct {
		const char *text;
		unsigned int width;
		const char *expect;
	} rows[] = {
		{ "main", 4, "main" },
		{ "mainly", 5, "ma..." },
		{ "main", 3, "..." },
		{ "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 4, "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc" },
		{ "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 4, "\xc3\xbc..." },
		{ "\xff\xff\xff\xff\xff", 4, "\xff..." },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

		strbuf_adds(&b, "longer before");
		strbuf_adds(&b, rows[i].text);
		text_cut(&b, strlen("longer before"), rows[i].width);
		CHECK_STR(strbuf_text(&b) + strlen("longer before"), rows[i].expect);
	}
}

static void counts_have_their_number(void)
{
	_cleanup_free_ char *none = text_count(0, "sample"), *one = text_count(1, "sample"),
			    *two = text_count(2, "sample");

	CHECK_STR(none, "0 samples");
	CHECK_STR(one, "1 sample");
	CHECK_STR(two, "2 samples");
}

TESTS(T(counts_have_their_number), T(long_errors_end_in_dots), T(text_wraps_at_blanks),
      T(control_characters_become_visible), T(lines_keep_tabs_and_their_end),
      T(one_control_character_anywhere_is_seen), T(strings_take_numbers_and_formats_of_any_length),
      T(utf8_is_distinguished_from_other_bytes), T(words_are_quoted_for_a_shell),
      T(long_text_is_cut_by_characters))
