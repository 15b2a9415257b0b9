/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests that speak TAP. A test is a static function named as the fact it shows, listed in
 * TESTS(); one that is not listed does not compile (it is unused).
 *
 *	static void add_survives_growth(void)
 *	{
 *		CHECK_EQ(odb_get(db, 7), 1);
 *	}
 *	TESTS(T(add_survives_growth), T(...))
 */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "file/path.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_failures;	 /* of the running test */
static const char *test_skipped; /* why the running test was skipped, or NULL */

/* Fails the test, and says so, unless @ok; goes on. */
#define CHECK(ok) test_check((ok), #ok, __FILE__, __LINE__)
/* Two numbers are equal. */
#define CHECK_EQ(a, b)                                                                             \
	do {                                                                                       \
		int64_t a_ = (int64_t)(a), b_ = (int64_t)(b);                                      \
		if (a_ != b_) {                                                                    \
			test_failures++;                                                           \
			printf("# %s:%d: %s is %" PRId64 " (%#" PRIx64 "), not %s = %" PRId64      \
			       " (%#" PRIx64 ")\n",                                                \
			       __FILE__, __LINE__, #a, a_, (uint64_t)a_, #b, b_, (uint64_t)b_);    \
		}                                                                                  \
	} while (0)
/* Two strings are equal. */
#define CHECK_STR(a, b) test_check_str((a), (b), #a, __FILE__, __LINE__)
/* Ends the test as skipped, with the reason. */
#define SKIP(why)                                                                                  \
	do {                                                                                       \
		test_skipped = (why);                                                              \
		return;                                                                            \
	} while (0)

static inline bool test_check(bool ok, const char *what, const char *file, int line)
{
	if (!ok) {
		test_failures++;
		printf("# %s:%d: not so: %s\n", file, line, what);
	}
	return ok;
}

static inline void test_check_str(const char *a, const char *b, const char *what, const char *file,
				  int line)
{
	if (a && b && !strcmp(a, b))
		return;
	test_failures++;
	printf("# %s:%d: %s is \"%s\", not \"%s\"\n", file, line, what, a ? a : "(null)",
	       b ? b : "(null)");
}

/* A new empty directory below the build's temporary one; caller frees and removes. */
static inline char *test_directory(void)
{
	const char *base = getenv("TMPDIR");
	char *path = path_join(base ? base : "/tmp", "optest-XXXXXX");

	if (!mkdtemp(path))
		abort();
	return path;
}

/* Removes what test_directory() made; the cleanup form. */
static inline void test_directory_donep(char **path)
{
	struct error err = ERROR_INIT;

	if (path_remove_tree(*path, &err) < 0)
		printf("# %s\n", err.text);
	free(*path);
}
#define _cleanup_directory_ _cleanup_(test_directory_donep)

struct test {
	const char *name;
	void (*run)(void);
};

/* clang-format off */
#define T(function) { #function, function }
/* clang-format on */
#define TESTS(...)                                                                                 \
	static const struct test tests[] = { __VA_ARGS__ };                                        \
	int main(void)                                                                             \
	{                                                                                          \
		return test_main(tests, ARRAY_SIZE(tests));                                        \
	}

static inline int test_main(const struct test *list, size_t count)
{
	int failed = 0;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%zu\n", count);
	for (i = 0; i < count; i++) {
		test_failures = 0;
		test_skipped = NULL;
		list[i].run();
		failed += test_failures > 0;
		printf("%s %zu - %s%s%s\n", test_failures ? "not ok" : "ok", i + 1, list[i].name,
		       test_skipped ? " # SKIP " : "", test_skipped ? test_skipped : "");
	}
	return failed > 0;
}
