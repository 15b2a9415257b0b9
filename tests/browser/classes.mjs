// SPDX-License-Identifier: GPL-2.0-or-later
// classes.mjs MODULE: tests web/classes.js, the class or namespace of names as demanglers and language runtimes print them.
import { readFileSync } from 'node:fs';

const { className } = await import('data:text/javascript,' + encodeURIComponent(readFileSync(process.argv[2], 'utf8')));

/** Names of functions with their classes; of a language with dots if there is a third part. */
const NAMES = [
	['main', ''],
	['memcpy@@GLIBC_2.14', ''],
	['foo.constprop.0', ''],
	['operator new(unsigned long)', ''],
	['ns::f()', 'ns'],
	['std::vector<int, std::allocator<int> >::push_back(int const&)', 'std::vector<int, std::allocator<int> >'],
	['std::map<a::b, c::d>::operator[](a::b const&)', 'std::map<a::b, c::d>'],
	['A::operator<(A const&) const', 'A'],
	['A::operator->() const', 'A'],
	['A::operator()(int) const', 'A'],
	['A::operator std::string() const', 'A'],
	['my_operator::call(int)', 'my_operator'],
	['void std::sort<int*>(int*, int*)', 'std'],
	['std::function<void (int)> ns::make<int>(a::b)', 'ns'],
	['std::ostream& std::operator<< <char>(std::ostream&, char const*)', 'std'],
	['(anonymous namespace)::helper(int)', '(anonymous namespace)'],
	['ns::(anonymous namespace)::A::f()', 'ns::(anonymous namespace)::A'],
	['main::{lambda(int)#1}::operator()(int) const', 'main::{lambda(int)#1}'],
	['ns::f(int) const::{lambda()#1}::operator()() const', 'ns::f(int) const::{lambda()#1}'],
	['decltype (f(x::y)) ns::g<int>(int)', 'ns'],
	['ns::f(int) [clone .cold]', 'ns'],
	['A::~A()', 'A'],
	['core::ptr::drop_in_place<alloc::string::String>', 'core::ptr'],
	['core::fmt::write::h0123456789abcdef', 'core::fmt'],
	['<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop', '<alloc::vec::Vec<T> as core::ops::drop::Drop>'],
	['<F as core::ops::FnOnce<fn() -> u8>>::call_once', '<F as core::ops::FnOnce<fn() -> u8>>'],
	['tool::run::{closure#0}', 'tool::run'],
	['App.Model.load', 'App.Model', 'dots'],
	['f.<locals>.g', 'f.<locals>', 'dots'],
	['<module>', '', 'dots'],
	['com.shop.Cart.total(Ljava/lang/String;)V', 'com.shop.Cart', 'dots'],
	['Cart::total', 'Cart', 'dots'],
	['Cart#total', 'Cart', 'dots'],
	['runtime.mallocgc', 'runtime', 'dots'],
	['net/http.(*conn).serve', 'net/http.(*conn)', 'dots'],
	['example.com/a/b.Run[...]', 'example.com/a/b', 'dots'],
	['', ''],
	['::', ''],
	['a<b::c(', ''],
	['>)::f', '>)'],
];

let failed = 0;
for (const [name, wanted, dots] of NAMES) {
	const found = className(name, Boolean(dots));
	if (found === wanted) continue;
	console.log(`class of ${name}: ${found}, not ${wanted}`);
	failed++;
}
process.exit(failed ? 1 : 0);
