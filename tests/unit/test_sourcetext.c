/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/strbuf.h"
#include "profile/binary/sourcetext.h"

/* The lines of a file with this content, as "[first][second]"; caller frees. */
static char *lines_of(const char *content, size_t size)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "source");
	_cleanup_(sourcetext_freep) struct sourcetext *t = NULL;
	_cleanup_fclose_ FILE *f = fopen(path, "we");
	struct strbuf b = STRBUF_INIT;
	const char *text;
	size_t i, length;

	if (!f || fwrite(content, 1, size, f) != size || fflush(f) != 0)
		abort();
	t = sourcetext_open(path);
	CHECK(t);
	CHECK(!sourcetext_line(t, 0, &text, &length));
	for (i = 1; sourcetext_line(t, i, &text, &length); i++)
		strbuf_addf(&b, "[%.*s]", (int)length, text);
	CHECK(!sourcetext_line(t, SIZE_MAX, &text, &length));
	return strbuf_take(&b);
}

static void lines_are_found_by_number(void)
{
	static const struct {
		const char *content, *lines;
	} rows[] = {
		{ "", "" },
		{ "\n", "[]" },
		{ "one\ntwo\n", "[one][two]" },
		{ "one\n\nno newline", "[one][][no newline]" },
		{ "\r\n\t\n", "[\r][\t]" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *lines = lines_of(rows[i].content, strlen(rows[i].content));

		CHECK_STR(lines, rows[i].lines);
	}
}

static void what_is_no_file_is_not_opened(void)
{
	CHECK(!sourcetext_open("/nonexistent"));
	CHECK(!sourcetext_open("/usr"));
	CHECK(!sourcetext_open("/dev/null"));
}

TESTS(T(lines_are_found_by_number), T(what_is_no_file_is_not_opened))
