#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""differ.py IMAGE_NAMES [--every N] [DIRECTORY...]: compares the symbols of addresses in every ELF file
below the directories (default: all programs and libraries of the system), or in every N-th, with nm. If
there is debug information, compares their lines and inlined calls with addr2line and eu-addr2line: if
they know a line, at least one must agree on it and at least one on the calls, because each misreads the
output of some compiler.

For each code symbol the first, middle and last byte and the byte after it are looked up. Our answer
must follow from nm's by one of these rules, which are counted:

 same      the symbol covers the address, and no symbol that covers it starts later
 alias     it covers the address, and starts where the last symbol that covers it starts
 unsized   no symbol with a size covers the address; our symbol has no size, and no other starts between
           it and the address
 inside    a symbol without size, or a shorter one, is inside ours: the longest owns the code
 plt       a PLT entry, which nm does not name
 nothing   neither knows a symbol

Anything else is a difference, and fails. Prints TAP."""
import bisect
import collections
import lzma
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import tempfile

PLACES = ["/bin", "/sbin", "/lib", "/lib64", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec",
          "/usr/local/bin", "/usr/local/lib"]
DEBUG = "/usr/lib/debug"  # of other files, by themselves they have no code
PER_FILE = 400
CODE = set("tTwWi")


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", check=False,
                          timeout=120, **more)


def elf_files(places):
    """Paths of all ELF files that are programs, libraries or modules, each once."""
    seen = set()
    for place in places:
        for directory, names, files in os.walk(os.path.realpath(place)):
            names[:] = sorted(n for n in names if os.path.join(directory, n) != DEBUG)
            for name in sorted(files):
                path = os.path.join(directory, name)
                try:
                    st = os.lstat(path)
                    if not stat.S_ISREG(st.st_mode) or (st.st_dev, st.st_ino) in seen:
                        continue
                    with open(path, "rb") as f:
                        head = f.read(20)
                except OSError:
                    continue
                # Relocatable files have no addresses to ask nm for.
                if head[:4] == b"\x7fELF" and head[16 + (head[5] == 2)] in (2, 3):
                    seen.add((st.st_dev, st.st_ino))
                    yield path


def debug_file(path):
    """The path of its debug file, if this machine has that."""
    m = re.search(r"Build ID: ([0-9a-f]{2})([0-9a-f]+)", run("readelf", "-n", path).stdout)
    debug = f"{DEBUG}/.build-id/{m.group(1)}/{m.group(2)}.debug" if m else ""
    return debug if os.path.exists(debug) else None


def small_debug_file(path, work):
    """A file below @work with the symbols that are packed into the file itself, or None."""
    packed, whole = os.path.join(work, "packed"), os.path.join(work, "whole")
    if ".gnu_debugdata" not in run("readelf", "-SW", path).stdout:
        return None
    run("objcopy", "--dump-section", f".gnu_debugdata={packed}", path, os.path.join(work, "copy"))
    with lzma.open(packed) as f, open(whole, "wb") as out:
        out.write(f.read())
    return whole


class Symbols:
    """What nm says of a file and its debug file: symbols of code by address."""

    def __init__(self, path):
        self.known, self.path, self.locals = set(), path, None
        with tempfile.TemporaryDirectory() as work:
            self.read(["-S", path])
            self.read(["-S", "-D", path])
            for debug in debug_file(path), small_debug_file(path, work):
                if debug:
                    self.read(["-S", debug])
        self.all = sorted(self.known)
        self.starts = [s[0] for s in self.all]
        self.most = max((s[1] for s in self.all), default=0)
        self.by_name = collections.defaultdict(list)
        for symbol in self.all:
            self.by_name[symbol[2]].append(symbol)

    def read(self, words):
        for line in run("nm", "--defined-only", *words).stdout.splitlines():
            m = re.match(r"([0-9a-f]+) (?:([0-9a-f]+) )?([a-zA-Z]) (.*)$", line)
            if not m or m.group(3) not in CODE:
                continue
            name = re.sub(r"(?<=.)@(?!plt).*", "", m.group(4))
            if name[:1] != "$" and name[:2] != ".L":
                self.known.add((int(m.group(1), 16), int(m.group(2) or "0", 16), name))

    def covering(self, address):
        first = bisect.bisect_left(self.starts, address - self.most)
        last = bisect.bisect_right(self.starts, address)
        return [s for s in self.all[first:last] if s[0] <= address < s[0] + s[1]]

    def addresses(self):
        """Some of the addresses that are worth asking for."""
        chosen = self.all
        if len(chosen) > PER_FILE:
            chosen = random.sample(chosen, PER_FILE)
        found = set()
        for start, size, _ in chosen:
            found.update((start, start + size // 2, start + max(size, 1) - 1, start + size))
        return sorted(found)

    def thread_local(self):
        """Names of thread-local variables, whose values are no addresses."""
        if self.locals is None:
            out = run("readelf", "-sW", self.path).stdout
            self.locals = {re.sub(r"@.*", "", line.split()[7]) for line in out.splitlines()
                           if re.search(r" TLS ", line) and len(line.split()) > 7}
        return self.locals

    def rule(self, address, name):
        """The rule by which @name is right, or None."""
        covering = self.covering(address)
        if name == "?":
            return "nothing" if all(s[2] in self.thread_local() for s in covering) else None
        mine = [s for s in self.by_name.get(name, ()) if s[0] <= address]
        if name.endswith("@plt") and not covering:
            return "plt"
        over = [s for s in mine if s in covering]
        if over:
            latest = max(s[0] for s in covering)
            start = max(s[0] for s in over)
            if start == latest:
                return "same" if len({s[2] for s in covering if s[0] == latest}) == 1 else "alias"
            return "inside"
        unsized = [s for s in mine if not s[1]]
        if unsized and not covering:
            start = max(s[0] for s in unsized)
            between = [s for s in self.all if start < s[0] <= address]
            return "unsized" if not between or all(s[1] for s in between) else "inside"
        return None


def said_by(tool, path, asked):
    """{address: [place, place of call, ...]} out of a tool; nothing where it knows no line."""
    out = run(tool, "-a", "-i", "-f", "-e", path, *[f"{a:#x}" for a in asked]).stdout
    said, lines = {}, []
    for line in out.splitlines():
        if re.match(r"0x[0-9a-f]+$", line):
            lines = said[int(line, 16)] = []
        else:
            lines.append(line)
    for address, words in said.items():
        places = [os.path.basename(re.sub(r"^(.*?:\d+)(:\d+| \(.*)$", r"\1", p))
                  for p in words[1::2]]
        unknown = not places or places[0][:2] == "??" or re.search(r":(0|\?)$", places[0])
        said[address] = [] if unknown else places
    return said


def lacks_shared(path):
    """Whether the file that dwz moved a part of its debug information to is not on this machine. Names of
    inlined functions are there, and the tools leave out calls of functions without names."""
    m = re.search(r"\[ *0\]  (\S+)", run("readelf", "-p", ".gnu_debugaltlink", path).stdout)
    return bool(m) and not os.path.exists(os.path.join(os.path.dirname(path), m.group(1)))


def line_differences(path, known):
    """Holds lines and calls against the tools: how many neither has so, and an example."""
    tools = [t for t in ("addr2line", "eu-addr2line") if shutil.which(t)]
    parts = {"line"} if lacks_shared(path) else {"line", "calls"}
    differ = {address: set(parts) for address in known} if tools else {}
    example = None
    for tool in tools:
        asked = [address for address in known if differ.get(address)]
        said = said_by(tool, path, asked) if asked else {}
        for address in asked:
            fields = known[address]
            ours = [os.path.basename(p) for p in
                    [fields[1]] + [f.rsplit(" ", 1)[1] for f in fields[2:]]]
            theirs = said.get(address)
            if theirs and theirs[0].startswith("<artificial>:"):
                # What addr2line calls a file that it cannot find.
                if theirs[0].split(":")[1] == ours[0].split(":")[1]:
                    theirs = ours[:1] + theirs[1:]
            if not theirs or theirs[0] == ours[0]:
                differ[address].discard("line")
            if not theirs or theirs[1:] == ours[1:]:
                differ[address].discard("calls")
            if differ[address]:
                example = f"{path} {address:#x}: {ours}, {tool} {theirs}"
    count = sum(1 for parts in differ.values() if parts)
    return count, example if count else None


class Differ:
    def __init__(self, names):
        self.names = names
        self.rules = collections.Counter()
        self.files = self.lines = self.line_differences = 0
        self.differences, self.examples, self.failed = 0, [], []

    def file(self, path):
        symbols = Symbols(path)
        asked = symbols.addresses()
        done = run(self.names, path, input="".join(f"{a:x}\n" for a in asked))
        self.files += 1
        if done.returncode:
            self.failed.append(f"{path}: {done.stderr.strip()[:200]}")
            return
        known = {}
        for line in done.stdout.splitlines():
            fields = line.split("\t")
            address, name = int(fields[0], 16), fields[1]
            name = re.sub(r"(?<=.)@(?!plt).*", "", name)
            known[address] = fields[1:]
            rule = symbols.rule(address, name)
            self.rules[rule or "different"] += 1
            if not rule:
                self.differences += 1
                said = [s[2] for s in symbols.covering(address)]
                self.examples.append(f"{path} {address:#x}: {name}, nm {said}")
        with_lines = {a: f for a, f in known.items() if f[1] != "?:0"}
        if with_lines:
            self.lines += len(with_lines)
            different, example = line_differences(path, with_lines)
            self.line_differences += different
            if example:
                self.examples.append(example)


def main():
    names = os.path.abspath(sys.argv[1])
    words = sys.argv[2:]
    every = 1
    if words[:1] == ["--every"]:
        every, words = int(words[1]), words[2:]
    random.seed(1)
    os.environ["LC_ALL"] = "C"
    if not shutil.which("nm"):
        print("1..0 # SKIP no nm")
        return 0
    differ = Differ(names)
    for number, path in enumerate(elf_files(words or PLACES)):
        if number % every == 0:
            differ.file(path)
    print(f"# {differ.files} files: " +
          ", ".join(f"{n} {rule}" for rule, n in differ.rules.most_common()) +
          f"; {differ.lines} with lines, of which {differ.line_differences} differ")
    for example in differ.failed[:20] + differ.examples[:40]:
        print(f"# {example}")
    results = (("every file is read", not differ.failed),
               ("every symbol follows from nm's by a rule", not differ.differences),
               ("lines and inlined calls are those of addr2line or eu-addr2line", not differ.line_differences))
    for number, (title, fine) in enumerate(results, 1):
        print(f"{'ok' if fine else 'not ok'} {number} - {title}")
    print(f"1..{len(results)}")
    return 0 if all(fine for _, fine in results) else 1


sys.exit(main())
