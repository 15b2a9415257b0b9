#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""formats.py IMAGE_NAMES: one program in every form of debug information that the compilers, linkers
and dwz on this machine produce: DWARF 2 to 5, split into .dwo files and packages, shared by dwz,
compressed, with link time optimisation. For each address of the plain form, image_names must agree with
addr2line, eu-addr2line or llvm-addr2line. For the other forms it must agree with the plain one, and must
show the calls that are always inlined. Prints TAP."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCES = {
    "leaf.h": """
extern volatile int sink;
static inline __attribute__((always_inline)) void leaf(int x)
{
	sink += x;
	sink ^= 3;
}
static inline __attribute__((always_inline)) void middle(int x)
{
	sink += 2;
	leaf(x + 1); /* MIDDLE */
	sink += 4;
}
""",
    "main.c": """
#include "leaf.h"
volatile int sink;
extern void other(int n);
extern int from_assembler(int n);
__attribute__((cold, noinline)) void seldom(int n)
{
	middle(n); /* COLD */
}
__attribute__((noinline)) void outer(int n)
{
	if (__builtin_expect(n > 1000, 0)) {
		sink = 7;
		seldom(n);
	}
	middle(n); /* OUTER */
}
static __attribute__((noinline)) int scaled(int n, int by)
{
	return n * by + sink;
}
int main(int argc, char **argv)
{
	(void)argv;
	outer(argc);
	other(argc);
	sink += scaled(argc, 3) + scaled(argc + sink, 3);
	return from_assembler(sink) & 1;
}
""",
    "other.c": """
#include "leaf.h"
void other(int n)
{
	int i;

	for (i = 0; i < n; i++)
		leaf(i); /* OTHER */
}
""",
    "assembler.S": """
	.text
	.globl from_assembler
	.type from_assembler, %function
from_assembler:
	nop
	nop /* ASSEMBLER */
	ret
	.size from_assembler, . - from_assembler
	.section .note.GNU-stack,"",%progbits
""",
}


def marked(mark):
    """FILE:LINE of the comment."""
    for name, text in SOURCES.items():
        for number, line in enumerate(text.lstrip("\n").split("\n"), 1):
            if f"/* {mark} */" in line:
                return f"{name}:{number}"
    raise KeyError(mark)


def run(*words, cwd, **more):
    return subprocess.run(words, cwd=cwd, check=True, capture_output=True, text=True, timeout=300,
                          **more).stdout


def addresses(path, cwd):
    """Every byte of the program's own functions."""
    wanted = re.compile(r"^(main|outer|other|seldom|scaled|from_assembler)([.]\w+)*$")
    found = set()
    for line in run("nm", "-S", "--defined-only", path, cwd=cwd).splitlines():
        words = line.split()
        if len(words) == 4 and wanted.match(words[3]):
            start, size = int(words[0], 16), int(words[1], 16)
            found.update(range(start, start + size))
    return sorted(found)


def ours(names, path, asked, cwd):
    """{address: [place, (function, place), ...]}, places without directories."""
    out = run(names, path, cwd=cwd, input="".join(f"{a:x}\n" for a in asked))
    known = {}
    for line in out.splitlines():
        fields = line.split("\t")
        calls = [tuple(f.rsplit(" ", 1)) for f in fields[3:]]
        known[int(fields[0], 16)] = [os.path.basename(fields[2])] + [
            (function, os.path.basename(place)) for function, place in calls]
    return known


def theirs(tool, path, asked, cwd):
    """The same out of another tool."""
    out = run(tool, "-a", "-i", "-f", "-e", path, *[f"{a:#x}" for a in asked], cwd=cwd)
    known, lines = {}, None
    for line in out.splitlines():
        if line.startswith("0x"):
            lines = known[int(line, 16)] = []
        else:
            lines.append(line)
    for address, said in known.items():
        # The part after the line: its column, or which of several.
        places = [os.path.basename(re.sub(r"^(.*?:\d+)(:\d+| \(.*)$", r"\1", p))
                  for p in said[1::2]]
        functions = [f.split(" inlined at ")[0] for f in said[0::2]]
        if re.search(r":(0|\?)$", places[0]):
            places[0] = "?:0"  # code of no line has no place
        known[address] = places[:1] + list(zip(functions[:-1], places[1:]))
    return known


class Tests:
    def __init__(self, names, work):
        self.names, self.work, self.count, self.failed = names, work, 0, 0

    def result(self, title, problem=None, skip=None):
        self.count += 1
        self.failed += bool(problem)
        end = f" # SKIP {skip}" if skip else ""
        print(f"{'not ok' if problem else 'ok'} {self.count} - {title}{end}")
        if problem:
            print(f"# {problem}")

    def build(self, compiler, directory, options, link=()):
        """The program in a directory of its own; its path."""
        cwd = os.path.join(self.work, directory)
        os.mkdir(cwd)
        for name, text in SOURCES.items():
            with open(os.path.join(cwd, name), "w", encoding="utf-8") as f:
                f.write(text.lstrip("\n"))
        objects = []
        for name in ("main.c", "other.c", "assembler.S"):
            objects.append(name.split(".")[0] + ".o")
            more = [o for o in options if name.endswith(".c") or "split" not in o and "lto" not in o]
            run(*compiler, "-O2", *more, "-c", name, "-o", objects[-1], cwd=cwd)
        run(*compiler, "-O2", *options, *link, *objects, "-Wl,--build-id", "-o", "prog", cwd=cwd)
        return os.path.join(cwd, "prog")

    def inlined(self, known):
        """The problem if calls are missing that are inlined in any case."""
        chains = [tuple(k[1:]) for k in known.values()]
        middle = ("leaf", marked("MIDDLE"))
        for want in ((middle, ("middle", marked("OUTER"))), (middle, ("middle", marked("COLD"))),
                     (("leaf", marked("OTHER")),)):
            if not any(chain[:len(want)] == want for chain in chains):
                return f"nothing is inlined as {want}"
        if [marked("ASSEMBLER")] not in known.values():
            return "no line of the assembler source"
        return None

    def same(self, known, expected):
        for address, want in expected.items():
            if known.get(address) != want:
                return f"{address:#x}: {known.get(address)}, expected {want}"
        return None if expected else "no addresses"

    def check(self, title, path, expected=None):
        """Returns what we know of the program."""
        asked = addresses(path, self.work)
        known = ours(self.names, path, asked, self.work)
        problem = self.inlined(known)
        if expected is not None and not problem:
            problem = self.same(known, expected)
        self.result(title, problem)
        return known

    def other_shared(self, compiler):
        """The file that dwz moved things to is of another build: refused, and named."""
        title = "a shared file of another build is refused and named"
        try:
            path = self.build(compiler, "other-shared", ["-gdwarf-4"])
            dwz_shared(False)(path)
        except (subprocess.SubprocessError, FileNotFoundError) as e:
            self.result(title, skip=f"cannot be made here: {e}")
            return
        asked = addresses(path, self.work)
        common = os.path.join(os.path.dirname(path), "usr/lib/debug/dwz/common")
        right = ours(self.names, path, asked, self.work)
        notes = run("readelf", "-n", common, cwd=self.work)
        build_id = bytes.fromhex(re.search(r"Build ID: (\w+)", notes).group(1))
        with open(common, "r+b") as f:
            whole = f.read()
            f.seek(0)
            f.write(whole.replace(build_id, bytes(len(build_id))))
        done = subprocess.run([self.names, path], input="".join(f"{a:x}\n" for a in asked),
                              capture_output=True, text=True, check=False, timeout=300)
        named = re.search(r"dwz/common: its build-id is not the one that dwz recorded", done.stderr)
        problem = self.inlined(right)
        if not named or done.returncode:
            problem = f"exit {done.returncode}: {done.stderr}"
        elif "\tleaf " in done.stdout:
            problem = "names came out of it all the same"
        self.result(title, problem)

    def variant(self, title, compiler, options, link=(), expected=None, change=None):
        """Builds, changes and checks a form; skips where a tool is missing. (path, known)"""
        directory = re.sub(r"\W+", "-", title)
        try:
            path = self.build(compiler, directory, options, link)
            if change:
                change(path)
        except (subprocess.SubprocessError, FileNotFoundError) as e:
            why = (getattr(e, "stderr", "") or str(e)).strip().split("\n")[-1]
            self.result(title, skip=f"cannot be made here: {why}")
            return None, None
        return path, self.check(title, path, expected)


def pack(tool):
    """Packs the .dwo files and removes them."""
    def change(path):
        cwd = os.path.dirname(path)
        if "llvm" in tool:
            run(tool, "-e", "prog", "-o", "prog.dwp", cwd=cwd)
        else:
            run(tool, "-o", "prog.dwp", "main.dwo", "other.dwo", cwd=cwd)
        for name in os.listdir(cwd):
            if name.endswith(".dwo"):
                os.remove(os.path.join(cwd, name))
    return change


def move_objects(path):
    """The .dwo files next to the program, which is not where it was compiled."""
    cwd = os.path.dirname(path)
    there = cwd + "-moved"
    os.mkdir(there)
    for name in os.listdir(cwd):
        if name.endswith(".dwo") or name == "prog":
            os.rename(os.path.join(cwd, name), os.path.join(there, name))
    os.symlink(os.path.join(there, "prog"), path)


def dwz(path):
    run("dwz", "prog", cwd=os.path.dirname(path))


def dwz_shared(by_id, *options):
    """Two debug files below usr/lib/debug, of which dwz moves to a third what both have; the
    program, next to them, is stripped. That file is found by its build-id alone, or by its name.
    With --dwarf-5 the section .debug_sup names it, and the forms are those of the standard."""
    def change(path):
        debug = os.path.join(os.path.dirname(path), "usr/lib/debug")
        os.makedirs(debug)
        os.rename(path, os.path.join(debug, "prog"))
        os.symlink("usr/lib/debug/prog", path)
        run("objcopy", "--only-keep-debug", "prog", "prog.debug", cwd=debug)
        shutil.copy(os.path.join(debug, "prog.debug"), os.path.join(debug, "twin.debug"))
        name = "/nonexistent/common" if by_id else "dwz/common"
        os.mkdir(os.path.join(debug, "dwz"))
        run("dwz", *options, "-m", "dwz/common", "-M", name, "prog.debug", "twin.debug", cwd=debug)
        if by_id:
            notes = run("readelf", "-n", "dwz/common", cwd=debug)
            build_id = re.search(r"Build ID: (\w+)", notes).group(1)
            to = os.path.join(debug, ".build-id", build_id[:2], build_id[2:] + ".debug")
            os.makedirs(os.path.dirname(to))
            os.rename(os.path.join(debug, "dwz/common"), to)
        run("strip", "-g", "prog", cwd=debug)
        run("objcopy", "--add-gnu-debuglink=prog.debug", "prog", cwd=debug)
    return change


def all_of(tests, name, compiler):
    split = ["-gsplit-dwarf"]
    plain = {}
    for version in (2, 3, 4, 5):
        debug = [f"-gdwarf-{version}"]
        title = f"{name}, DWARF {version}"
        path, known = tests.variant(title, compiler, debug)
        plain[version] = known
        if not path:
            continue
        # Not all of them understand all that clang makes.
        for tool in ("addr2line", "eu-addr2line") if name == "gcc" else ("llvm-addr2line",):
            if not shutil.which(tool):
                tests.result(f"{title} as {tool} has it", skip=f"no {tool}")
                continue
            said = theirs(tool, path, addresses(path, tests.work), tests.work)
            tests.result(f"{title} as {tool} has it", tests.same(known, said))
    for version in (4, 5):
        debug, known = [f"-gdwarf-{version}"], plain[version]
        title = f"{name}, DWARF {version}"
        tests.variant(title + ", split", compiler, debug + split, (), known)
        tests.variant(title + ", split and moved", compiler, debug + split, (), known,
                      move_objects)
        # Older tools make nothing sensible of version 5: dwp of any, llvm-dwp of that of gcc.
        for tool in ("dwp", "llvm-dwp") if version == 4 else ("llvm-dwp",) * (name == "clang"):
            tests.variant(f"{title}, packed by {tool}", compiler, debug + split, (), known,
                          pack(tool))
        tests.variant(title + ", compressed", compiler, debug + ["-gz"], ["-gz"], known)
        tests.variant(title + ", types apart", compiler, debug + ["-fdebug-types-section"], (),
                      known)
        tests.variant(title + ", dwz", compiler, debug, (), known, dwz)
        tests.variant(title + ", dwz, shared", compiler, debug, (), known, dwz_shared(False))
        tests.variant(title + ", dwz, shared, by build-id", compiler, debug, (), known,
                      dwz_shared(True))
        if version == 5:
            tests.variant(title + ", dwz, shared as the standard has it", compiler, debug, (),
                          known, dwz_shared(False, "--dwarf-5"))
        tests.variant(title + ", functions in sections, unused ones dropped", compiler,
                      debug + ["-ffunction-sections"], ["-Wl,--gc-sections"])
        tests.variant(title + ", link time optimisation", compiler, debug + ["-flto"],
                      ["-fuse-ld=lld"] if name == "clang" and shutil.which("ld.lld") else ())


def main():
    names = os.path.abspath(sys.argv[1])
    os.environ["LC_ALL"] = "C"
    with tempfile.TemporaryDirectory() as work:
        tests = Tests(names, os.path.realpath(work))
        for name in ("gcc", "clang"):
            if shutil.which(name):
                all_of(tests, name, [name])
                if name == "gcc":
                    tests.other_shared([name])
            else:
                tests.result(name, skip=f"no {name}")
    print(f"1..{tests.count}")
    return 1 if tests.failed else 0


sys.exit(main())
