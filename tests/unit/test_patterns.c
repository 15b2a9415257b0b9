/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "profile/patterns.h"

static void names_match_as_they_should(void)
{
	static const struct {
		const char *list, *name;
		bool matches, path_matches;
	} rows[] = {
		{ "main", "main", true, true },
		{ "main", "mainly", false, false },
		{ "main,fib", "fib", true, true },
		{ ",,fib,", "fib", true, true },
		{ "", "", false, false },
		{ "h?t", "hot", true, true },
		{ "std::*", "std::sort(int*, int*)", true, true },
		{ "f(int\\, int),g", "f(int, int)", true, true },
		{ "a\\b", "a\\b", true, true },
		{ "T::operator[](int)", "T::operator[](int)", true, true },
		{ "*.h", "/usr/include/stdio.h", true, true },
		{ "stdio.h", "/usr/include/stdio.h", false, true },
		{ "/usr/*", "/usr/include/stdio.h", true, true },
		{ "include/stdio.h", "/usr/include/stdio.h", false, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct patterns p = { 0 };

		patterns_add(&p, rows[i].list);
		if (!CHECK(patterns_match(&p, rows[i].name) == rows[i].matches) ||
		    !CHECK(patterns_match_path(&p, rows[i].name) == rows[i].path_matches))
			printf("# row %zu: %s\n", i, rows[i].list);
		patterns_done(&p);
	}
}

static void lists_add_up(void)
{
	struct patterns p = { 0 };

	CHECK(!patterns_match(&p, "a"));
	patterns_add(&p, "a");
	patterns_add(&p, "b,c");
	CHECK_EQ(p.count, 3);
	CHECK(patterns_match(&p, "a") && patterns_match(&p, "c"));
	CHECK(!patterns_match(&p, NULL));
	patterns_done(&p);
}

TESTS(T(names_match_as_they_should), T(lists_add_up))
