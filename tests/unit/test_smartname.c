/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/strbuf.h"
#include "symbol/smartname.h"

#include <errno.h>

static struct smart_rules *rules_of(const char *text)
{
	struct error err = ERROR_INIT;
	struct smart_rules *rules = NULL;

	CHECK_EQ(smart_rules_parse(text, "rules", &rules, &err), 0);
	return rules;
}

static void check_apply(const struct smart_rules *rules, const char *name, const char *expect)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, name);
	smart_rules_apply(rules, &text, 0);
	CHECK_STR(strbuf_text(&text), expect);
}

static void names_become_shorter(void)
{
	_cleanup_(smart_rules_freep) struct smart_rules *rules =
		rules_of("std::_1:: => std::\n"
			 "[abi] =>\n"
			 "std::vector<$1, std::allocator<$1> > => std::vector<$1>\n"
			 "std::map<$1, $2, std::less<$1> > => std::map<$1, $2>\n"
			 "iter<$1 const*, $2> => $2::const_iterator\n"
			 "Str<char> => String\n"
			 "unsigned long => ulong\n");
	static const struct {
		const char *name, *expect;
	} rows[] = {
		{ "", "" },
		{ "main", "main" },
		{ "std::vector<int, std::allocator<int> >::size()", "std::vector<int>::size()" },
		{ "std::vector<int,std::allocator<int>>", "std::vector<int>" },
		{ "std::vector<int, std::allocator<long> >",
		  "std::vector<int, std::allocator<long> >" },
		{ "std::_1::vector<int, std::_1::allocator<int> >", "std::vector<int>" },
		{ "std::vector<std::vector<A<b, c>, std::allocator<A<b, c> > >, "
		  "std::allocator<std::vector<A<b, c>, std::allocator<A<b, c> > > > >",
		  "std::vector<std::vector<A<b, c>>>" },
		{ "f(std::map<Str<char>, int (*)(int, long), std::less<Str<char> > >&)",
		  "f(std::map<String, int (*)(int, long)>&)" },
		{ "iter<A const*, B>", "B::const_iterator" },
		{ "iter<Aconst*, B>", "iter<Aconst*, B>" },
		{ "my::Str<char>", "my::Str<char>" },
		{ "MyStr<char>", "MyStr<char>" },
		{ "f[abi](unsigned long)", "f(ulong)" },
		{ "f(unsigned longer)", "f(unsigned longer)" },
		{ "f(unsignedlong)", "f(unsignedlong)" },
		{ "std::vector<x<&A::operator<>, std::allocator<x<&A::operator<> > >",
		  "std::vector<x<&A::operator<>>" },
		{ "std::vector<", "std::vector<" },
		{ "std::vector<)", "std::vector<)" },
		{ ">)]}, $1", ">)]}, $1" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		check_apply(rules, rows[i].name, rows[i].expect);
}

static void text_before_the_match_stays(void)
{
	_cleanup_(smart_rules_freep) struct smart_rules *rules = rules_of("a => b");
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, "a::");
	strbuf_adds(&text, "a(a)");
	smart_rules_apply(rules, &text, 3);
	CHECK_STR(strbuf_text(&text), "a::b(b)");
}

static void rules_that_grow_end(void)
{
	_cleanup_(smart_rules_freep) struct smart_rules *rules = rules_of("a => a<a>");

	check_apply(rules, "a", "a<a><a><a><a><a><a><a><a>");
}

static void slow_names_stay(void)
{
	_cleanup_(smart_rules_freep) struct smart_rules *rules =
		rules_of("f<$1 $2 $3 $4 $5 x> => y");
	_cleanup_(strbuf_done) struct strbuf name = STRBUF_INIT;
	_cleanup_free_ char *expect = NULL;
	size_t i;

	strbuf_adds(&name, "f<");
	for (i = 0; i < 1000; i++)
		strbuf_adds(&name, "a b ");
	strbuf_adds(&name, ">");
	expect = xstrdup(strbuf_text(&name));
	smart_rules_apply(rules, &name, 0);
	CHECK_STR(strbuf_text(&name), expect);
}

static void bad_rules_are_named(void)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "a b", "rules:1: not PATTERN => REPLACEMENT" },
		{ "# ok\n\n => x", "rules:3: a pattern must start with a letter" },
		{ "$1 => x", "rules:1: a pattern must start with a letter" },
		{ "a$ => x", "rules:1: $ is not followed by a digit" },
		{ "a<$1> => $2",
		  "rules:1: the replacement uses a variable that the pattern does not define" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;
		struct smart_rules *rules;

		CHECK_EQ(smart_rules_parse(rows[i].text, "rules", &rules, &err), -EINVAL);
		CHECK_STR(err.text, rows[i].error);
	}
}

static void names_in_a_style(void)
{
	static const struct {
		const char *name, *bare; /* NULL: as it is */
	} rows[] = {
		{ "LMain;run(IJ)V", "Main.run" },
		{ "void Main.run(int, long)", "Main.run" },
		{ "java.util.Map[] pkg.A.f()", "pkg.A.f" },
		{ "_ZN1a1bEv", "a::b" },
		{ "main", NULL },
		{ "", NULL },
		/* From debug information. */
		{ "twice<int>", "twice" },
		{ "ns::Box<int, std::allocator<int> >::put", "ns::Box::put" },
		{ "ns::(anonymous namespace)::sum<int (*)(char)>",
		  "ns::(anonymous namespace)::sum" },
		{ "ns::run<int>::{lambda(int)}::operator()", "ns::run::{lambda}::operator()" },
		{ "ns::Box<int>::~Box", "ns::Box::~Box" },
		{ "ns::Box<int>::operator bool", "ns::Box::operator bool" },
		{ "ns::Box<int>::operator<< <char>", "ns::Box::operator<<" },
		/* From interpreters and perf maps. */
		{ "block in <main>", NULL },
		{ "<class:Foo>", NULL },
		{ "Foo.<locals>.<lambda>", NULL },
		{ "pkg.Foo.<init>", NULL },
		{ "Foo<T", NULL },
		{ "JS:~map<k> /a/b.js:1:1", NULL },
		{ "main.(*T).f", NULL },
		{ "void [app] Program::Main(string[])", NULL },
		{ "Interpreter (1)", NULL },
		{ "void A.f(", NULL },
		{ "void A.f() [Tier1]", NULL },
	};
	static const struct name_style bare = { .bare = true }, mangled = { .mangled = true };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

		CHECK(!name_style_add(&mangled, &text, rows[i].name));
		CHECK_EQ(name_style_add(&bare, &text, rows[i].name), rows[i].bare != NULL);
		CHECK_STR(strbuf_text(&text), rows[i].bare ?: "");
	}
}

static void rules_apply_to_debug_information(void)
{
	static const char name[] = "ns::sum<std::vector<int, std::allocator<int> > >";
	_cleanup_(smart_rules_freep) struct smart_rules *rules = NULL;
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;

	CHECK_EQ(smart_rules_parse("std::vector<$1, std::allocator<$1> > => std::vector<$1>",
				   "rules", &rules, &err),
		 0);
	CHECK(!name_style_add(&(struct name_style){ 0 }, &text, name));
	CHECK(name_style_add(&(struct name_style){ .rules = rules }, &text, name));
	CHECK_STR(strbuf_text(&text), "ns::sum<std::vector<int> >");
}

TESTS(T(names_in_a_style), T(rules_apply_to_debug_information), T(names_become_shorter),
      T(text_before_the_match_stays), T(rules_that_grow_end), T(slow_names_stay),
      T(bad_rules_are_named))
