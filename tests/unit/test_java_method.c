/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Line tables of Java's methods, and how methods and their files are called. */
#include "test.h"

#include "base/macro.h"
#include "base/mem.h"
#include "interpreter/java_lines.h"
#include "interpreter/java_names.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 16, ROWS_MAX = 4 };

/* --- lines --- */

static const struct {
	const char *what;
	uint8_t bytes[BYTES_MAX];
	size_t size, used; /* used: bytes of the table */
	uint16_t version;
	struct function_line rows[ROWS_MAX];
	size_t count;
} tables[] = {
	{ "one byte", { 3, 5 << 3 | 1, 0, 9 }, 4, 3, 17, { { 0, 3 }, { 5, 4 } }, 2 },
	{ "numbers", { 0xff, 0, 24, 0 }, 4, 4, 17, { { 0, 12 } }, 1 },
	{ "numbers without 0", { 0xff, 1, 25, 0 }, 4, 4, 25, { { 0, 12 } }, 1 },
	{ "two digits", { 0xff, 4, 200, 1, 0 }, 5, 5, 17, { { 2, 132 } }, 1 },
	{ "two digits without 0", { 0xff, 5, 201, 2, 0 }, 5, 5, 25, { { 2, 132 } }, 1 },
	{ "back",
	  { 7, 8 << 3 | 1, 0xff, 8, 5, 0 },
	  6,
	  6,
	  17,
	  { { 0, 7 }, { 8, 8 }, { 12, 5 } },
	  3 },
	{ "unsorted", { 9 << 3 | 7, 0xff, 7, 6, 0 }, 5, 5, 17, { { 5, 10 }, { 9, 7 } }, 2 },
	{ "one line twice", { 4, 2 << 3, 2 << 3 | 1, 0 }, 4, 4, 17, { { 0, 4 }, { 4, 5 } }, 2 },
	{ "no end", { 3, 5 << 3 | 1 }, 2, 2, 17, { { 0, 3 }, { 5, 4 } }, 2 },
	{ "half a number", { 3, 0xff, 200 }, 3, 3, 17, { { 0, 3 } }, 1 },
	{ "0 in a number", { 3, 0xff, 0, 7 }, 4, 3, 20, { { 0, 3 } }, 1 },
	{ "after the code",
	  { 3, 31 << 3 | 1, 31 << 3 | 1, 0 },
	  4,
	  3,
	  17,
	  { { 0, 3 }, { 31, 4 } },
	  2 },
	{ "no line 0", { 4 << 3, 3, 0 }, 3, 1, 17, { { 0 } }, 0 },
	{ "empty", { 0 }, 1, 1, 17, { { 0 } }, 0 },
	{ "nothing", { 0 }, 0, 0, 17, { { 0 } }, 0 },
};

/* The rows as text: "0:3 5:4". Caller frees. */
static char *text_of(const struct function_line *rows, size_t count)
{
	char *text = xstrdup(""), *longer;
	size_t i;

	for (i = 0; i < count; i++) {
		longer = xasprintf("%s%s%u:%u", text, i ? " " : "", rows[i].offset, rows[i].line);
		free(text);
		text = longer;
	}
	return text;
}

static void tables_are_decoded(void)
{
	size_t i, used;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		_cleanup_free_ char *expected = text_of(tables[i].rows, tables[i].count),
				    *text = NULL;
		struct java_lines lines = { 0 };

		used = java_lines_decode(&lines, tables[i].version, 40,
					 span_of(tables[i].bytes, tables[i].size));
		text = text_of(lines.rows, lines.count);
		if (strcmp(text, expected) != 0 || used != tables[i].used)
			printf("# %s:\n", tables[i].what);
		CHECK_STR(text, expected);
		CHECK_EQ(used, tables[i].used);
		free(lines.rows);
	}
}

/* --- names --- */

static void files_are_in_their_package(void)
{
	static const struct {
		const char *class_name, *source, *image, *path;
	} rows[] = {
		{ "com/acme/Shop$Cart", "Shop.java", "/[java]/com/acme/Shop.java",
		  "com/acme/Shop.java" },
		{ "Main", "Main.java", "/[java]/Main.java", "Main.java" },
		{ "acme/Shop", "Goods.kt", "/[java]/acme/Goods.kt", "acme/Goods.kt" },
		{ "acme/Shop$Cart$1", "acme/Shop$Cart$1", "/[java]/acme/Shop.java",
		  "acme/Shop.java" },
		{ "Shop$$Lambda+0x0000712345678900", "Shop$$Lambda+0x0000712345678900",
		  "/[java]/Shop.java", "Shop.java" },
		{ "acme/Shop", "../../etc/passwd", "/[java]/acme/Shop.java", "acme/Shop.java" },
		{ "", "", "/[java]/.java", ".java" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *image = java_names_file(rows[i].class_name, rows[i].source);

		CHECK_STR(image, rows[i].image);
		CHECK_STR(java_names_source(image), rows[i].path);
	}
	CHECK_STR(java_names_source("/srv/app.py"), "/srv/app.py");
}

static void methods_have_their_class(void)
{
	_cleanup_free_ char *method = java_names_method("acme/Shop", "sell", "(I)V");
	_cleanup_free_ char *made =
		java_names_method("Shop$$Lambda$2+0x00007f2748001870", "run", "()V");

	CHECK_STR(method, "Lacme/Shop;sell(I)V");
	CHECK_STR(made, "LShop$$Lambda$2;run()V");
}

TESTS(T(tables_are_decoded), T(files_are_in_their_package), T(methods_have_their_class))
