/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "profile/select/patterns.h"
#include "profile/select/symfilter.h"

static bool one_matches(const struct patterns *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->count && !pattern_match(p->list[i], name); i++)
		;
	return i < p->count;
}

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
		if (!CHECK(one_matches(&p, rows[i].name) == rows[i].matches) ||
		    !CHECK(patterns_match_path(&p, rows[i].name) == rows[i].path_matches))
			printf("# row %zu: %s\n", i, rows[i].list);
		patterns_done(&p);
	}
}

static void lists_add_up(void)
{
	struct patterns p = { 0 };

	CHECK(!patterns_match_path(&p, "a"));
	patterns_add(&p, "a");
	patterns_add(&p, "b,c");
	CHECK_EQ(p.count, 3);
	CHECK(patterns_match_path(&p, "a") && patterns_match_path(&p, "c"));
	patterns_done(&p);
}

static void symbols_are_chosen(void)
{
	static const struct {
		const char *include, *exclude, *name, *path;
		bool wanted;
	} rows[] = {
		{ "", "", "main", "/bin/a", true },
		{ "main", "", "main", "/bin/a", true },
		{ "main", "", "mainly", "/bin/a", false },
		{ "main", "", NULL, "/bin/a", false },
		{ "", "main", NULL, "/bin/a", true },
		{ "", "main", "main", "/bin/a", false },
		{ "main", "main", "main", "/bin/a", false },
		{ "main[a]", "", "main", "/bin/a", true },
		{ "main[/bin/a]", "", "main", "/bin/a", true },
		{ "main[/usr/*]", "", "main", "/bin/a", false },
		{ "main[b]", "", "main", "/bin/a", false },
		{ "main[b]", "", "mainb", "/bin/a", false },
		{ "main[b]", "", "main[b]", "/bin/a", true },
		{ "*[a]", "", NULL, "/bin/a", true },
		{ "", "*[a]", NULL, "/bin/a", false },
		{ "", "*[a]", "f", "/bin/b", true },
		{ "geo::*", "", "_ZN3geo3dotEv", "/bin/a", true },
		{ "_ZN3geo3dotEv", "", "_ZN3geo3dotEv", "/bin/a", true },
		{ "geo::dot()[b]", "", "_ZN3geo3dotEv", "/bin/a", false },
		{ "[a]", "", "[a]", "/bin/b", true },
		{ "f[]", "", "f", "/bin/a", false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct symbol_filter f = { 0 };

		symbol_list_add(&f.include, rows[i].include);
		symbol_list_add(&f.exclude, rows[i].exclude);
		if (!CHECK(symbol_filter_is_set(&f) == (*rows[i].include || *rows[i].exclude)) ||
		    !CHECK(symbol_filter_wants(&f, rows[i].name, rows[i].path) == rows[i].wanted))
			printf("# row %zu: -i %s -e %s\n", i, rows[i].include, rows[i].exclude);
		symbol_filter_done(&f);
	}
}

TESTS(T(names_match_as_they_should), T(lists_add_up), T(symbols_are_chosen))
