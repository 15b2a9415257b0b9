#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scopes.py IMAGE_NAMES: names of inlined C++ functions that have no linkage name, because no other
unit can call them, in several forms of debug information. clang gives all a linkage name: without
what demanglers add, which are parameters and numbers of lambdas, both compilers must give the same
names. Prints TAP."""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = """
#define INLINE inline __attribute__((always_inline))
volatile int sink;
static INLINE void plain() { sink += 1; }
namespace outer { inline namespace v1 {
static INLINE void fixed() { sink += 2; }
namespace {
INLINE void hidden() { sink += 3; }
struct Pair {
	int a;
	INLINE void add();
	INLINE Pair operator+(int b) const { return Pair{ a + b + sink }; }
	INLINE operator bool() const { return a > sink; }
	struct Inner { int c; INLINE void deep() { sink += c; } };
};
INLINE void Pair::add() { sink += a; }
template <class T> struct Box { T value; INLINE void put() { sink += value; } };
template <class T> INLINE void twice(T value) { sink += 2 * value; }
}
INLINE void exported() { sink += 4; }
} }
using namespace outer;
struct Global {
	int g;
	__attribute__((noinline)) void work(int n)
	{
		auto lambda = [&](int k) __attribute__((always_inline)) { sink += k + g; };
		struct Local { int d; INLINE void here() { sink += d; } } local = { n };
		lambda(n);
		local.here();
	}
};
int main(int argc, char **)
{
	Pair p = { argc };
	Pair::Inner inner = { argc };
	Box<int> box = { argc };
	Global global = { argc };
	auto lambda = [&](int k) __attribute__((always_inline)) { sink += k * argc; };
	plain();
	fixed();
	hidden();
	p.add();
	p = p + argc;
	if (p)
		inner.deep();
	box.put();
	twice(argc);
	exported();
	lambda(3);
	global.work(argc);
	return 0;
}
"""

NAMES = """
	plain outer::v1::fixed outer::v1::(anonymous namespace)::hidden
	outer::v1::(anonymous namespace)::Pair::add
	outer::v1::(anonymous namespace)::Pair::operator+
	outer::v1::(anonymous namespace)::Pair::operator bool
	outer::v1::(anonymous namespace)::Pair::Inner::deep
	outer::v1::(anonymous namespace)::Box<int>::put
	outer::v1::(anonymous namespace)::twice<int> outer::v1::exported
	main::{lambda}::operator()
	Global::work::{lambda}::operator() Global::work::Local::here
"""

FORMS = {
    "gcc": ("-gdwarf-5", "-gdwarf-4", "-gdwarf-2", "-gdwarf-5 -gsplit-dwarf",
            "-gdwarf-5 -fdebug-types-section", "-gdwarf-5 -flto", "dwz"),
    "clang": ("-gdwarf-5",),
}


def run(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=300,
                          **more).stdout


def bare(name):
    """Without parameters, returned type and qualifiers; lambdas without number and parameters."""
    name = re.sub(r"(\{lambda|\$_|'lambda)[^:]*(?=::)", "{lambda}", name)
    name = re.sub(r"\((?!anonymous namespace|\))[^()]*\)", "()", name)
    name = re.sub(r"\(\)( const)?(?=::|$)", lambda m: m.group(0).replace("() const", "()"), name)
    name = re.sub(r"(?<!operator)\(\)", "", name)
    name = re.sub(r"^(void|int) ", "", name)
    return name


def inlined(names, path, work):
    """The names of all calls that are inlined anywhere in the program's functions."""
    asked = set()
    for line in run("nm", "-S", "--defined-only", path).splitlines():
        words = line.split()
        if len(words) == 4 and re.match(r"main|_ZN6Global", words[3]):
            asked.update(range(int(words[0], 16), int(words[0], 16) + int(words[1], 16)))
    out = run(names, path, cwd=work, input="".join(f"{a:x}\n" for a in sorted(asked)))
    found = {f.rsplit(" ", 1)[0] for line in out.splitlines() for f in line.split("\t")[3:]}
    return set(run("c++filt", input="".join(f"{n}\n" for n in found)).split("\n")) - {""}


def wanted():
    """The names, of which some have blanks."""
    text = NAMES.replace("(anonymous namespace)", "(anonymous~namespace)")
    text = text.replace("operator bool", "operator~bool")
    return {n.replace("~", " ") for n in text.split()}


def problem_of(compiler, form, names, work):
    path = os.path.join(work, "prog")
    options = ["-gdwarf-5"] if form == "dwz" else form.split()
    run(compiler, "-std=gnu++17", "-O1", *options, "-o", path, "a.cc", cwd=work)
    if form == "dwz":
        run("dwz", path)
    found = {bare(n) for n in inlined(names, path, work)}
    if found == wanted():
        return None
    return f"missing {sorted(wanted() - found)}, unexpected {sorted(found - wanted())}"


def main():
    names, count, failed = os.path.abspath(sys.argv[1]), 0, 0
    os.environ["LC_ALL"] = "C"
    with tempfile.TemporaryDirectory() as work:
        with open(os.path.join(work, "a.cc"), "w", encoding="utf-8") as f:
            f.write(SOURCE)
        for compiler, forms in FORMS.items():
            for form in forms:
                count += 1
                title = f"{compiler} {form}"
                try:
                    problem = problem_of({"gcc": "g++", "clang": "clang++"}[compiler], form, names,
                                         work)
                except (subprocess.SubprocessError, FileNotFoundError) as e:
                    print(f"ok {count} - {title} # SKIP cannot be made here: {e}")
                    continue
                failed += bool(problem)
                print(f"{'not ok' if problem else 'ok'} {count} - {title}")
                if problem:
                    print(f"# {problem}")
    print(f"1..{count}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
