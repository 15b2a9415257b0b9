/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/strbuf.h"
#include "symbol/short_name.h"

static void parts_go_in_order(void)
{
	static const char find[] =
		"std::vector<int> ns::find<int>(std::map<int, int> const&) const";
	static const struct {
		const char *name;
		unsigned int room;
		const char *expect;
	} rows[] = {
		{ find, 63, find },
		{ find, 62, "std::vector<int> ns::find<int>(...) const" },
		{ find, 40, "ns::find<int>(...) const" },
		{ find, 16, "ns::find<int>..." },
		{ "f<std::allocator<char> >(int)", 12, "f<...>(int)" },
		{ "do_syscall_64", 13, "do_syscall_64" },
		{ "do_syscall_64", 10, "do_sysc..." },
		{ "", 3, "" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

		strbuf_adds(&text, "before ");
		strbuf_adds(&text, rows[i].name);
		short_name(&text, 7, rows[i].room);
		CHECK_STR(strbuf_text(&text) + 7, rows[i].expect);
	}
}

static void brackets_of_names_stay(void)
{
	static const struct {
		const char *name, *expect;
	} rows[] = {
		{ "(anonymous namespace)::sum_all_of_it(int, long)",
		  "(anonymous namespace)::sum_all_of_it(...)" },
		{ "<alloc::vec::Vec<T> as core::Index>::index_of_it<u8, u16>",
		  "<alloc::vec::Vec<T> as core::Index>::index..." },
		{ "main::{lambda(int)#1}::operator()(int, unsigned long) const",
		  "main::{lambda(int)#1}::operator()(...) const" },
		{ "std::ostream& operator<< <char>(std::ostream&, int)",
		  "std::ostream& operator<< <char>(...)" },
		{ "Ns::operator->(unsigned long, unsigned long, int)", "Ns::operator->(...)" },
		{ "outer_function(int, int)::inner::call_it(int, long)",
		  "outer_function(int, int)::inner::call_it(...)" },
		{ "a name (that never ends and is longer than the room",
		  "a name (that never ends and is longer than..." },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

		strbuf_adds(&text, rows[i].name);
		short_name(&text, 0, 45);
		CHECK_STR(strbuf_text(&text), rows[i].expect);
	}
}

static void bare_names_are_those_of_functions(void)
{
	static const struct {
		const char *name, *expect;
	} rows[] = {
		{ "std::vector<int> ns::find<int>(std::map<int, int> const&) const", "ns::find" },
		{ "std::vector<int, std::allocator<int> >::push_back(int const&)",
		  "std::vector::push_back" },
		{ "(anonymous namespace)::sum(int, long)", "(anonymous namespace)::sum" },
		{ "<alloc::vec::Vec<T> as core::Index>::index<u8, u16>",
		  "<alloc::vec::Vec as core::Index>::index" },
		{ "main::{lambda(std::pair<int, int> const&)#1}::operator()(int) const",
		  "main::{lambda#1}::operator()" },
		{ "std::ostream& operator<< <char>(std::ostream&, int)", "operator<<" },
		{ "Ns::operator->(int)", "Ns::operator->" },
		{ "operator new(unsigned long)", "operator new" },
		{ "A<int>::operator unsigned long() const", "A::operator unsigned long" },
		{ "A::operator char const*()", "A::operator char const*" },
		{ "A::operator std::vector<int, B>() const", "A::operator std::vector" },
		{ "my_operator A::f<int>(int)", "A::f" },
		{ "Ns::A<int>& Ns::A<int>::operator=<long>(Ns::A<long> const&)",
		  "Ns::A::operator=" },
		{ "f(A<int>)::B<char>::operator-=<A<int> >(A<int>)", "f::B::operator-=" },
		{ "bool operator==<int>(A<int> const&)", "operator==" },
		{ "bool operator><int>(A<int> const&)", "operator>" },
		{ "bool A::operator<=><int>(A<int>) const", "A::operator<=>" },
		{ "A::operator->*<int>(int A::*)", "A::operator->*" },
		{ "int& A::operator[]<long>(long)", "A::operator[]" },
		{ "outer(int) const &::inner::call(int, long) [clone .isra.0]",
		  "outer::inner::call [clone .isra.0]" },
		{ "void Shop.sort(java.util.Random)", "Shop.sort" },
		{ "void java.util.ArrayList.<init>(int)", "java.util.ArrayList.<init>" },
		{ "gopkg.in/yaml.v3.(*parser).parse", "gopkg.in/yaml.v3.(*parser).parse" },
		{ "std.conv.to!(int).to(immutable(char)[])", "std.conv.to!(int).to" },
		{ "memcpy@plt", "memcpy@plt" },
		{ "never(closed<", "never(closed<" },
		{ "", "" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

		strbuf_adds(&text, "a <b> ");
		strbuf_adds(&text, rows[i].name);
		short_name_bare(&text, 6);
		CHECK_STR(strbuf_text(&text) + 6, rows[i].expect);
	}
}

TESTS(T(parts_go_in_order), T(brackets_of_names_stay), T(bare_names_are_those_of_functions));
