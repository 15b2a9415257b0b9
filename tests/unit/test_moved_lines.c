/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/moved_lines.h"

#include "test.h"

#include "profile/binary/sources.h"
#include "profile/annotate/internal/source_function.h"

#include <unistd.h>

/* A source file with this text. */
static struct sourcetext *text_of(const char *text)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "a.c");
	struct error err = ERROR_INIT;

	if (path_write(path, text, 0666, &err) < 0)
		abort();
	return sourcetext_open(path, getuid());
}

enum { LINES = 64 };

/* Checks where the lines of @before that are in @function are in @now: "3>5 4>0" says that line 3
 * is line 5, and that line 4 is not found. Lines that are not named are not known. */
static void check_lines_of(const char *function, const char *before, const char *now,
			   const char *expected)
{
	_cleanup_(sourcetext_freep) struct sourcetext *first = text_of(before),
						      *second = text_of(now);
	_cleanup_(moved_lines_freep) struct moved_lines *m = NULL;
	struct old_line old[LINES];
	unsigned int line, to;
	const char *at, *text;
	size_t n = 0, size;
	int length;

	for (at = expected; sscanf(at, " %u>%u%n", &line, &to, &length) == 2; at += length) {
		CHECK(sourcetext_line(first, line, &text, &size));
		old[n++] =
			(struct old_line){ line, (uint32_t)source_line_hash(text, size), function };
	}
	m = moved_lines_new(old, n, second);
	for (at = expected; sscanf(at, " %u>%u%n", &line, &to, &length) == 2; at += length) {
		if (moved_lines_find(m, line) != to)
			printf("# line %u\n", line);
		CHECK_EQ(moved_lines_find(m, line), to);
	}
}

static void check_lines(const char *before, const char *now, const char *expected)
{
	check_lines_of("work.part.0", before, now, expected);
}

static void lines_are_found_by_their_texts(void)
{
	check_lines("int work(int x)\n{\n\tx += 1;\n\tx += 2;\n\treturn x;\n}\n",
		    "\n\nint work(int x)\n{\n\tx += 3;\n  x += 2;\n\treturn x;\n}\n",
		    "1>3 3>0 4>6 5>7 6>8");
}

static void a_line_of_another_function_is_not_one_of_this(void)
{
	static const char before[] = "int work(int x)\n{\n\tx += 1;\n\treturn x;\n}\n"
				     "int other(int x)\n{\n\tx += 1;\n\treturn x;\n}\n";

	check_lines(before, "int other(int x)\n{\n\tx += 1;\n\treturn x;\n}\n", "1>0 3>0 4>0 5>0");
	check_lines(before,
		    "int work(int x);\nint other(int x)\n{\n\tx += 1;\n\treturn work(x);\n}\n",
		    "3>0 4>0 5>0");
	check_lines(before,
		    "int other(int x)\n{\n\tx += 1;\n\treturn x;\n}\n"
		    "/* To work. */\nint work(int x, int y)\n{\n\tx += 1;\n\treturn x;\n}\n",
		    "1>0 3>9 4>10 5>11");
}

static void of_equal_lines_only_a_certain_one_is_found(void)
{
	static const char before[] =
		"int work(int x)\n{\n\ta();\n\tx++;\n\tb();\n\tx++;\n\tc();\n}\n";

	/* One is left of two. */
	check_lines(before,
		    "int work(int x)\n{\n\ta();\n\td();\n\te();\n\tx++;\n\tf();\n\tc();\n}\n",
		    "3>3 4>0 5>0 6>0 7>8");
	/* Between others, or next to one. */
	check_lines(
		before,
		"int work(int x)\n{\n\n\ta();\n\t;\n\tx++;\n\tb();\n\t;\n\t;\n\tx++;\n\tc();\n}\n",
		"3>4 4>6 5>7 6>10 7>11");
	check_lines(before, "int work(int x)\n{\n\t;\n\ta();\n\tx++;\n\tx++;\n\tx++;\n\tc();\n}\n",
		    "3>4 4>5 6>7 7>8");
}

static void a_file_that_is_the_same_is_recognized(void)
{
	static const char text[] = "int g(void)\n{\n\tx++;\n\tx++;\n}\n";
	_cleanup_(sourcetext_freep) struct sourcetext *now = text_of(text);
	struct old_line old[] = { { 3, (uint32_t)source_line_hash("x++;", 4), NULL },
				  { 4, (uint32_t)source_line_hash("x++;", 4), NULL },
				  { 5, 0, NULL } };
	_cleanup_(moved_lines_freep) struct moved_lines *unknown = moved_lines_new(old + 2, 1, now);
	_cleanup_(moved_lines_freep) struct moved_lines *m = moved_lines_new(old, 3, now);

	CHECK(moved_lines_stayed(m));
	CHECK_EQ(moved_lines_find(m, 4), 4);
	CHECK_EQ(moved_lines_find(m, 5), 0);
	CHECK(!moved_lines_stayed(unknown));
}

static void a_function_has_a_word(void)
{
	static const struct {
		const char *name, *word;
	} rows[] = {
		{ "work", "work" },
		{ "work.constprop.0.cold", "work" },
		{ "_ZN2ns3Box4sortIiEEvPT_", "sort" },
		{ "_ZN2ns3BoxC1Ev", "Box" },
		{ "_ZN2ns3BoxD2Ev", "Box" },
		{ "_ZN12_GLOBAL__N_16hiddenEi", "hidden" },
		{ "_ZN3foo3barB5cxx11Ev", "bar" },
		{ "_ZN3fooIiE3barEv", "bar" },
		{ "_ZN2nsplERKNS_1AES2_", "operator+" },
		{ "_ZN2ns1AltIiEEbT_", "operator<" },
		{ "_ZlsIcESt4pairS_", "operator<<" },
		{ "_ZN2ns1AclEi", "operator()" },
		{ "_ZN2ns1AixEi.cold", "operator[]" },
		{ "_ZZN2ns1AplEiENKUlvE_clEv", "operator+" },
		{ "_ZN2ns1AcvbEv", "operator " },
		{ "_ZN2ns1AcvNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEv", "operator " },
		{ "_Znam", "operator new" },
		{ "_ZN2ns1AdaEPv", "operator delete" },
		{ "_ZN2nsli3_kbEy", "_kb" },
		{ "twice<int>", "twice" },
		{ "(anonymous namespace)::Box<std::pair<int, long> >::put", "put" },
		{ "ns::S::operator()<int>", "operator()" },
		{ "main::{lambda}::operator()", "main" },
		{ "operator_of", "operator_of" },
		{ "operator", "operator" },
		{ "example.org/operator/work.Do", "Do" },
		{ "_ZZN2ns1fEiENKUliE_clEi", "f" },
		{ "_ZZ4mainENK3$_0clEi", "main" },
		{ "main.(*Tree).walk.func1", "walk" },
		{ "_RNvC4demo4work", "work" },
		{ "", NULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *word = source_function_word(rows[i].name);

		CHECK_STR(word ?: "-", rows[i].word ?: "-");
	}
}

static void a_source_has_the_operators_that_it_defines(void)
{
	static const struct {
		const char *word, *line;
		bool has;
	} rows[] = {
		{ "operator+", "A operator+(A o) const { return o; }", true },
		{ "operator+", "A operator + (A o)", true },
		{ "operator+", "A operator+<int>(A o)", true },
		{ "operator+", "A &operator+=(A o), &operator++();", false },
		{ "operator+", "A &operator++(); A operator+(A o);", true },
		{ "operator<", "bool operator< <int>(A o)", true },
		{ "operator<", "std::ostream &operator<<(A o)", false },
		{ "operator<<", "std::ostream &operator<<(A o)", true },
		{ "operator<=", "auto operator<=>(A o)", false },
		{ "operator-", "A *operator->()", false },
		{ "operator->", "int operator->*(A o)", false },
		{ "operator->", "A *operator->() const", true },
		{ "operator()", "int operator() (int x)", true },
		{ "operator()", "int my_operator()", false },
		{ "operator[]", "int operator[](int x)", true },
		{ "operator ", "operator const char *() const", true },
		{ "operator ", "A operator()(int x)", false },
		{ "operator new", "void *operator new[](size_t n)", true },
		{ "operator new", "operator newer() const", false },
		{ "operator new", "void *operator", false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(sourcetext_freep) struct sourcetext *text = text_of(rows[i].line);
		struct source_extent e = { 0 };
		const bool has = source_function_next(text, rows[i].word, &e);

		if (has != rows[i].has)
			printf("# row %zu: %s\n", i, rows[i].line);
		CHECK_EQ(has, rows[i].has);
	}
}

static void lines_of_an_operator_are_not_those_of_another(void)
{
	check_lines_of("_ZN1AplERKS_",
		       "struct A {\n\tA operator+(const A &o) const\n\t{\n\t\tx += o.x;\n\t}\n};\n",
		       "struct A {\n\tA operator+=(const A &o)\n\t{\n\t\tx += o.x;\n\t}\n"
		       "\tA operator+(const A &o) const\n\t{\n\t\tx += o.x;\n\t}\n};\n",
		       "2>6 4>8");
}

TESTS(T(lines_are_found_by_their_texts), T(a_line_of_another_function_is_not_one_of_this),
      T(of_equal_lines_only_a_certain_one_is_found), T(a_file_that_is_the_same_is_recognized),
      T(a_function_has_a_word), T(a_source_has_the_operators_that_it_defines),
      T(lines_of_an_operator_are_not_those_of_another))
