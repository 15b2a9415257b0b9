/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of PHP's interpreter, and how its functions and files are called. */
#include "test.h"

#include "file/path.h"
#include "elf/elffile.h"
#include "interpreter/interpreter_image.h"
#include "interpreter/php_layout.h"
#include "interpreter/php_names.h"

#include <stdlib.h>
#include <string.h>

/* The file that looks like an interpreter, as memory that may be changed; caller frees. */
static char *read_fake(size_t *ret_size)
{
	_cleanup_free_ char *path = path_join(getenv("OP_BUILD_ROOT"), "tests/unit/libfake_php.so");
	struct error err = ERROR_INIT;
	char *bytes = NULL;
	int64_t n = path_read("", path, &bytes, &err);

	CHECK(n > 0);
	*ret_size = (size_t)n;
	return bytes;
}

/* Replaces @from, everywhere in the file, by @to, which is as long. */
static void replace(char *bytes, size_t size, const char *from, const char *to)
{
	char *at = bytes;

	CHECK(memmem(bytes, size, from, strlen(from)));
	while ((at = memmem(at, size - (size_t)(at - bytes), from, strlen(from)))) {
		memcpy(at, to, strlen(to));
		at += strlen(to);
	}
}

/* Reads the layout of the file with @to in place of @from, which may be NULL. */
static bool read_changed(const char *from, const char *to, uint64_t base, struct php_layout *ret)
{
	size_t size;
	_cleanup_free_ char *bytes = read_fake(&size);
	_cleanup_(elffile_closep) struct elffile *ef = NULL;

	if (from)
		replace(bytes, size, from, to);
	CHECK_EQ(elffile_open_memory(bytes, size, "fake", &ef, NULL), 0);
	return php_layout_read(ef, base, ret);
}

static void versions_are_in_a_table(void)
{
	static const struct {
		const char *header;
		uint16_t version, file;
	} rows[] = {
		{ "PHP/8.0.30", 0x0800, 144 },
		{ "PHP/8.1.29", 0x0801, 144 },
		{ "PHP/8.2.36", 0x0802, 152 },
	};
	struct php_layout l;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK(read_changed("PHP/8.2.36", rows[i].header, 0, &l));
		CHECK_EQ(l.version, rows[i].version);
		CHECK_EQ(l.is_known, 1);
		CHECK_EQ(l.function_file, rows[i].file);
		CHECK_EQ(l.function_lines, rows[i].file + 8);
		CHECK(l.loop_bytes > 0 && l.loop_bytes < 100);
		CHECK(php_layout_makes_sense(&l));
	}
}

static void addresses_are_relative(void)
{
	struct php_layout l, other;

	CHECK(read_changed(NULL, NULL, 0, &l));
	CHECK(read_changed(NULL, NULL, 0x1000, &other));
	CHECK_EQ(l.current - other.current, 0x1000);
	CHECK_EQ(l.loop_start - other.loop_start, 0x1000);
}

static void an_unknown_version_is_named(void)
{
	static const char *const headers[] = { "PHP/8.3.11", "PHP/8.9.99", "PHP/7.4.33",
					       "PHP/999999", "PHP/x.2.36" };
	struct php_layout l;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(headers); i++) {
		CHECK(read_changed("PHP/8.2.36", headers[i], 0, &l));
		CHECK_EQ(l.is_known, 0);
	}
	CHECK(read_changed("PHP/8.2.36", "PHP/8.9.99", 0, &l));
	CHECK_EQ(l.version, 0x0809);
}

static void a_file_without_its_symbols_is_none(void)
{
	struct php_layout l;

	CHECK(!read_changed("execute_ex", "execute_ey", 0, &l));
	CHECK(!read_changed("executor_globals", "executor_globalz", 0, &l));
}

static void the_table_of_languages_knows_it(void)
{
	size_t size;
	_cleanup_free_ char *bytes = read_fake(&size);
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct interpreter i;

	CHECK_EQ(elffile_open_memory(bytes, size, "fake", &ef, NULL), 0);
	CHECK(interpreter_image_read(ef, 0, &i));
	CHECK_EQ(i.kind, INTERPRETER_PHP);
	CHECK_EQ(i.is_known, 1);
	CHECK(interpreter_image_makes_sense(&i));
	i.php.function_lines = 4000;
	CHECK(!interpreter_image_makes_sense(&i));
	i.php.function_lines = 12;
	CHECK(!interpreter_image_makes_sense(&i));
	i.kind = INTERPRETER_COUNT_;
	CHECK(!interpreter_image_makes_sense(&i));
}

static void files_have_names(void)
{
	static const struct {
		const char *file, *name;
	} rows[] = {
		{ "/srv/a.php", "/srv/a.php" },
		{ "Command line code", "<Command line code>" },
		{ "", "<php>" },
		{ "php", "<php>" },
		{ "phar:///opt/tool.phar/src/a.php", "/opt/tool.phar/src/a.php" },
		{ "/srv/a.php(3) : eval()'d code", "/srv/<a.php(3) : eval()'d code>" },
		{ "/srv/a.php(3) : eval()'d code(1) : eval()'d code",
		  "/srv/<a.php(3) : eval()'d code(1) : eval()'d code>" },
		{ "/a.php(3) : runtime/x", "/<a.php(3) : runtime_x>" },
		{ "x(3) : eval()'d /code", "<x(3) : eval()'d _code>" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *name = php_names_file(rows[i].file);

		CHECK_STR(name, rows[i].name);
	}
}

static void methods_have_their_class(void)
{
	_cleanup_free_ char *method = php_names_function("A\\B", "c"),
			    *function = php_names_function("", "f");

	CHECK_STR(method, "A\\B::c");
	CHECK_STR(function, "f");
}

TESTS(T(versions_are_in_a_table), T(addresses_are_relative), T(an_unknown_version_is_named),
      T(a_file_without_its_symbols_is_none), T(the_table_of_languages_knows_it),
      T(files_have_names), T(methods_have_their_class))
