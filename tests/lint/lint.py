#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of this tree that a compiler does not make; prints TAP, one line per check.

usage: lint.py SOURCE_ROOT BUILD_ROOT [CHECK...]; default: all CHECKS, which are listed below.
"""
import fnmatch
import itertools
import os
import re
import subprocess
import sys

from bpf_stack import stack_errors
from examples import JDK, Headers, compile_errors, examples


def sources(root, *suffixes):
    """Yields the files of the tree with these suffixes, except in build directories."""
    for directory, names, files in os.walk(root):
        names[:] = sorted(n for n in names if not n.startswith((".", "build", "corpus")))
        for name in sorted(files):
            if name.endswith(suffixes):
                yield os.path.relpath(os.path.join(directory, name), root)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def check_spdx(root, _build):
    """Every source has an SPDX line with its licence in the first two lines."""
    for path in sources(root, ".c", ".h", ".py", ".sh"):
        head = "\n".join(read(root, path).splitlines()[:2])
        # Other programs link with the agent, whatever their licence.
        name = "LGPL-2.1-or-later" if path.startswith("lib/agent/") else "GPL-2.0-or-later"
        wrong = [] if f"SPDX-License-Identifier: {name}" in head else [f"no SPDX line of {name}"]
        yield path, wrong


def room_of(path):
    """Returns the room of a file of lib/: its directory, without a trailing internal/."""
    return os.path.dirname(path).removesuffix("/internal")


def rooms_of_design(root):
    """Returns the rooms of lib/ with those that each may include, from the table in DESIGN.md."""
    rows = re.findall(r"^\| `lib/([\w/]+)` \|[^|]*\|([^|]*)\|$", read(root, "DESIGN.md"), re.M)
    common = {"base": set(), "file": {"base"}}
    return {room: common.get(room, {"base", "file"}) | set(re.findall(r"[\w/]+", uses))
            for room, uses in rows}


def check_includes(root, _build):
    """Rooms of lib/ include only what DESIGN.md allows; interfaces include no private header."""
    rooms = rooms_of_design(root)
    for path in sources(os.path.join(root, "lib"), ".c", ".h"):
        own = room_of(path)
        wrong = []
        for line in read(root, f"lib/{path}").splitlines():
            found = re.match(r'#include "([\w/]+/\w+)\.h"', line)
            room = room_of(found[1]) if found else own
            if room != own and room not in rooms[own]:
                wrong.append(f"{line}: lib/{own} may not include lib/{room}")
            elif room != own and "/internal/" in found[1]:
                wrong.append(f"{line}: is private to lib/{room}")
            elif path.endswith(".h") and os.path.dirname(path) == own and "/internal/" in line:
                wrong.append(f"{line}: is private, {path} is not")
        yield f"lib/{path}", wrong
    for path in product(root):
        if not path.startswith("lib/"):
            yield path, [f"{line}: is private" for line in read(root, path).splitlines()
                         if re.match(r'#include ".*/internal/', line)]


def cycles(graph):
    """The cycles of a graph {node: nodes that it needs}: one list of nodes for each knot."""
    below = {}

    def reached(node):
        if node not in below:
            below[node] = set()
            todo = [node]
            while todo:
                for other in graph.get(todo.pop(), ()):
                    if other not in below[node]:
                        below[node].add(other)
                        todo.append(other)
        return below[node]

    found = {}
    for node in sorted(graph):
        knot = sorted(other for other in reached(node) if node in reached(other))
        if knot:
            found[tuple(knot)] = True
    return list(found)


def check_cycles(root, _build):
    """No room needs itself by way of others, and no module does: a module is x.c and x.h."""
    rooms = rooms_of_design(root)
    for knot in cycles({room: uses - {room} for room, uses in rooms.items()}):
        yield "DESIGN.md", [f"rooms that need each other: {', '.join(knot)}"]
    modules = {}
    for path in product(root):
        needs = modules.setdefault(path.rsplit(".", 1)[0], set())
        for name in re.findall(r'^#include "([^"]+)\.h"', read(root, path), re.M):
            for directory in ("lib", ".", os.path.dirname(path)):
                module = os.path.normpath(os.path.join(directory, name))
                if os.path.exists(os.path.join(root, f"{module}.h")):
                    needs.add(module)
                    break
    for module, needs in modules.items():
        needs.discard(module)
    for knot in cycles(modules):
        yield knot[0], [f"include each other: {', '.join(knot)}"]


def product(root):
    """Yields the sources that users run, without tests, fuzz targets and measurements."""
    for path in sources(root, ".c", ".h"):
        if path.split("/")[0] in ("bpf", "daemon", "lib", "tools"):
            yield path


def check_names(root, _build):
    """No two modules of the product have the same name."""
    modules = {}
    for path in product(root):
        name = os.path.basename(path).rsplit(".", 1)[0]
        modules.setdefault(name, set()).add(os.path.dirname(path))
    for name, directories in sorted(modules.items()):
        yield name, [f"in {' and '.join(sorted(directories))}"] if len(directories) > 1 else []


def check_builds(root, _build):
    """Each room's meson.build lists its files, all of them, in order."""
    for room in rooms_of_design(root).keys() - {"agent"}:
        lists = [re.findall(r"'([\w/]+\.c)'", part)
                 for part in read(root, f"lib/{room}/meson.build").split("files(")]
        listed = sum(lists, [])
        there = [path for path in sources(os.path.join(root, "lib", room), ".c")
                 if room_of(f"{room}/{path}") == room]
        wrong = [f"{name} is not listed" for name in sorted(set(there) - set(listed))]
        wrong += [f"{names[0]} ...: not in order" for names in lists if sorted(names) != names]
        yield f"lib/{room}/meson.build", wrong


def check_headers(root, _build):
    """Every header of lib/ compiles alone."""
    for path in sources(os.path.join(root, "lib"), ".h"):
        run = subprocess.run(
            ["cc", "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
             *JDK, "-I", f"{root}/lib", "-I", root, "-include", f"{root}/lib/{path}", "-x", "c",
             "/dev/null"],
            capture_output=True, text=True)
        missing = "jvmti.h: No such file" in run.stderr  # a JDK is optional
        yield f"lib/{path}", run.stderr.splitlines()[:5] if run.returncode and not missing else []


def check_examples(root, _build):
    """The examples in the comments that open headers compile."""
    rooms = {}
    for path in product(root):
        if path.endswith(".h") and not path.endswith(".bpf.h"):
            rooms.setdefault(room_of(path), {})[path] = read(root, path)
    headers = Headers(text for room in rooms.values() for text in room.values())
    interface = [path for room in rooms.values() for path in room
                 if re.match("lib/(?!agent)|bpf/|tools/common/", path) and "/internal/" not in path]
    for room, texts in rooms.items():
        found = [example for path, text in texts.items() for example in examples(path, text)]
        yield room, compile_errors(root, dict.fromkeys([*interface, *texts]), found, headers)


def check_comments(root, _build):
    """Lines of comments are indented: no formatter has joined them."""
    for path in product(root):
        yield path, [f"line {number}: {line}" for number, line
                     in enumerate(read(root, path).splitlines(), 1) if re.match(r" \*\w", line)]


def check_format(root, _build):
    """clang-format would change nothing."""
    paths = sources(root, ".c", ".h")
    run = subprocess.run(["clang-format", "--dry-run", "-Werror", *paths], cwd=root,
                         capture_output=True, text=True)
    yield "clang-format", [line for line in run.stderr.splitlines() if "error:" in line]


# Files of the product that open files in another way than by lib/file/open_regular.h, and why.
OPENS = {
    "lib/agent/opagent.c": "is linked into other programs; creates its dump with O_EXCL",
    "lib/file/account.c": "a namespace in /proc",
    "lib/file/dirtree.c": "opens directories only, its flags are in a macro",
    "lib/file/open_regular.c": "is that function",
    "lib/file/procfs.c": "directories of /proc",
    "lib/file/trusted_dir.c": "opens directories only, its flags are in a macro",
    "lib/event/evpfm.c": "/proc/mounts, as libpfm4 opens it",
    "lib/perf/probe.c": "/dev/fuse, to see whether it can be opened",
    "lib/stream/stream_file.c": "an operand of oprofiled, which may be a pipe",
    "tools/ocount/ocount.c": "its option --output, which may be a terminal or a pipe",
    "tools/opreport/opreport.c": "its option --output-file, which may be a terminal or a pipe",
}


def is_harmless_open(call):
    """Such a call can open neither a device nor a FIFO: it opens a directory or what it has just
    created, opens nothing (O_PATH), or the name is in the program."""
    return (re.search(r"O_PATH|O_DIRECTORY|O_EXCL", call) or
            re.search(r'fopen\(.*"[wa]\w*x\w*"\)', call) or
            re.match(r'\w+\("/(dev/null|proc/)[^"%]*"', call))


def calls_outside(root, call, is_harmless, exceptions):
    """Yields the calls that match this expression in files of the product that are no exceptions."""
    for path in product(root):
        text = re.sub(r"/\*.*?\*/", lambda c: "\n" * c[0].count("\n"), read(root, path), flags=re.S)
        found = [m for m in re.finditer(rf"(?<![\w.>])({call})", text) if not is_harmless(m[1])]
        if path in exceptions:
            yield path, [] if found else ["is no exception any longer: remove its line"]
        else:
            yield path, [f"line {text.count(chr(10), 0, m.start()) + 1}: {m[1]}" for m in found]


def check_opens(root, _build):
    """Files that others may have put there are opened by lib/file/open_regular.h."""
    call = r"(?:open|openat|fopen|opendir|creat)\([^;]*?\)(?=[\s;,)])|SYS_openat2(?=[\s;,)])"
    yield from calls_outside(root, call, is_harmless_open, OPENS)


# Files of the product that change names or owners of files themselves, and why they may.
CHANGES = {
    "daemon/logfile.c": "renames its own log, as the daemon's user",
    "daemon/session_dir.c": "gives a session away, from descriptor to descriptor",
    "lib/agent/opagent.c": "is linked into other programs; removes its own dump",
    "lib/file/dirtree.c": "is one of the functions to use",
    "lib/file/open_regular.c": "is one of the functions to use",
    "lib/file/path.c": "is one of the functions to use",
    "lib/file/scratch.c": "creates a directory with a random name",
    "lib/file/trusted_dir.c": "is one of the functions to use",
    "lib/chains/chain_merge.c": "replaces the directory of chains, for a repair by the owner",
    "lib/control/socket.c": "its socket, in a directory by its descriptor",
    "lib/profile/compact/pack.c": "link(2), so that of two writers only one succeeds",
    "lib/sfile/sfile.c": "removes a sample file whose writer died, in a session that it writes",
    "lib/symbol/function_file.c": "exchanges a file with one that it created, which it removes",
    "lib/symbol/internal/lru_directory.c": "files of its user's directory, by its descriptor",
    "lib/symbol/symcache.c": "its own files, in a directory by its descriptor",
    "tools/common/confine.c": "removes the empty directory that it created",
    "lib/jit/internal/hotspot.c": "removes the file that it created, as the user of the process",
    "tools/oparchive.c": "removes the page that it created",
    "tools/opreport/opreport.c": "removes the output file that it created",
    "tools/opweb/web_browser.c": "removes the file that it created",
    "tools/opweb/web_listen.c": "removes the socket that it created",
    "tools/opweb/web_secret.c": "removes the file that it created and could not write",
}


def check_changes(root, _build):
    """Names and owners of files are changed by lib/file/path.h and dirtree.h, or by descriptor."""
    call = (r"(?:rename(?:at2?)?|unlink(?:at)?|rmdir|remove|l?chown|fchownat|chmod|fchmodat|mkdir(?:at)?|"
            r"(?:sym)?link(?:at)?|mknod(?:at)?|mkfifo(?:at)?|truncate|utimes|utimensat|mk\w*temp\w*)"
            r"\([^;]*?\)(?=[\s;,)])")
    yield from calls_outside(root, call, lambda _: False, CHANGES)


# Files and rooms (ending in a slash) of the product that look at files by their paths, and why they may.
# The threads of the daemon and operf never do that with a path that a user chose: it may hang.
LOOKS = {
    "daemon/daemon_options.c": "the disk of its session",
    "daemon/node_host.c": "/sys",
    "daemon/oprofiled.c": "the session of --replay, before it becomes its owner",
    "lib/base/mem.c": "is a function to use",
    "lib/chains/": "the session, with the rights of its owner",
    "lib/collect/internal/cut_functions.c": "runs in the keeper",
    "lib/collect/quota.c": "the disk of its session",
    "lib/control/daemonrc.c": "its own file of settings",
    "lib/driver/bpf/sampler_functions.c": "reads a link of /proc, and does not follow it",
    "lib/elf/": "report tools, as the session's owner; the session's vdso",
    "lib/event/": "/sys, files of events, and the program that an event names",
    "lib/file/": "has the functions to use",
    "lib/history/": "the session, with the rights of its owner",
    "lib/identity/cookie_identify.c": "runs in the opener",
    "lib/identity/internal/host_path.c": "runs in the opener",
    "lib/identity/opener.c": "/proc",
    "lib/import/": "what opimport was given, as its owner",
    "lib/jit/jit_files.c": "/proc",
    "lib/parser/": "/proc",
    "lib/perf/": "/proc, /sys",
    "lib/process/process_reading.c": "a link of /proc, whose file server is not asked",
    "lib/profile/": "report tools, as the session's owner",
    "lib/record/code/source_files.c": "its session",
    "lib/sfile/": "the session, with the rights of its owner",
    "lib/symbol/": "report tools, and files of this package",
    "tools/": "what the user named, or the session as its owner",
}


def check_looks(root, _build):
    """Paths are looked at only where nobody else chose them, or where the program may wait."""
    call = (r"(?:l?stat|statx|e?access|euidaccess|readlink|realpath|statv?fs|scandir|n?ftw|glob|l?getxattr)"
            r"\([^;]*?\)(?=[\s;,)])")

    def is_harmless(c):
        return re.match(r'\w+\((?:[\w>-]+, )?"(?:/|")', c)  # a fixed path, or a descriptor

    rooms = tuple(name for name in LOOKS if name.endswith("/"))
    used = set()
    for path, wrong in calls_outside(root, call, is_harmless, {}):
        allowed = path if path in LOOKS else next((r for r in rooms if path.startswith(r)), None)
        used.update([allowed] if wrong else [])
        yield path, [] if allowed else wrong
    yield "LOOKS", [f"{name} is not needed any longer" for name in sorted(set(LOOKS) - used)]


# Lines of a file, and of a function, and which files of the product may have more.
FILE_LINES = 500
FUNCTION_LINES = 50
LONGER_FILES = {
    "daemon/service.c": 670,
    "lib/chains/chain_store.c": 550,
    "lib/control/settings.c": 550,
    "lib/driver/bpf/bpf.c": 650,
    "lib/sfile/odb.c": 550,
    "lib/symbol/internal/kallsyms_table.c": 550,
    "lib/symbol/kallsyms.c": 550,
    "lib/unwind/internal/cfi_program.c": 550,
    "tools/oprofilefs/fuse_tree.c": 600,
}


def functions_of(lines):
    """The functions of a source, formatted as ours are: name, line of the brace, lines of the body."""
    start = name = None
    for number, line in enumerate(lines, 1):
        called = re.match(r"\w.*?(\w+)\(", line)
        if called and not start:
            name = called[1]
        if line == "{":
            start = number
        if line == "}" and start:
            yield name, start, number - start
            start = None


def check_lengths(root, _build):
    """No line over 100 columns; files and functions have at most FILE_LINES and FUNCTION_LINES, or what is listed."""
    ours = set(product(root))
    for path in sources(root, ".c", ".h"):
        lines = read(root, path).splitlines()
        wrong = [f"line {number} is {len(line.expandtabs(8))} columns wide"
                 for number, line in enumerate(lines, 1)
                 if len(line.expandtabs(8)) > 100 and "clang-format off" not in line]
        most = LONGER_FILES.get(path, FILE_LINES)
        if len(lines) > most and path in ours:
            wrong.append(f"{len(lines)} lines, not {most}")
        for name, start, length in functions_of(lines):
            most = FUNCTION_LINES if path in ours else 100
            if length > most:
                wrong.append(f"line {start}: {name}() has {length} lines, not {most}")
        yield path, wrong


def tool_path(build, name):
    for directory in ("tools", "daemon"):
        path = os.path.join(build, directory, name)
        if os.access(path, os.X_OK):
            return path
    return None


def documented_options(page):
    """Returns the long options that a man page documents: bold, at the start of a line."""
    found = set()
    for line in page.splitlines():
        if line.startswith("*-"):
            found.update(re.findall(r"\*--([a-z0-9-]+)", line))
    return found


def check_options(root, build):
    """Each tool has a man page; the tool, its page and --help have the same options."""
    pages = {path.rsplit(".", 2)[0]: path for path in os.listdir(f"{root}/man")
             if re.search(r"\.[18]\.scd$", path)}
    for name in sorted(set(pages) | set(built_tools(build))):
        tool = tool_path(build, name)
        if name not in pages or not tool:
            yield name, [f"no man page man/{name}.1.scd" if tool else "a man page without a tool"]
            continue
        listed = subprocess.run([tool, "--list-options"], capture_output=True, text=True,
                                check=True).stdout
        text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
        options = set(re.findall(r"^--([a-z0-9-]+)", listed, re.M))
        documented = documented_options(read(root, f"man/{pages[name]}"))
        yield name, ([f"--{o} is not in the man page" for o in sorted(options - documented)] +
                     [f"--{o} is in the man page only" for o in sorted(documented - options)] +
                     [f"--{o} is not in --help" for o in sorted(options) if f"--{o}" not in text])


def check_exits(root, _build):
    """Each man page of a program has the exit status without memory (MEM_EXHAUSTED)."""
    status = re.search(r"MEM_EXHAUSTED = (\d+)", read(root, "lib/base/mem.h"))[1]
    for name in sorted(os.listdir(f"{root}/man")):
        if re.search(r"\.[18]\.scd$", name):
            section = read(root, f"man/{name}").partition("# EXIT STATUS\n")[2].partition("\n# ")[0]
            missing = not re.search(rf"\b{status}\b", section)
            yield f"man/{name}", [f"EXIT STATUS lacks {status}"] if missing else []


def check_settings(root, build):
    """daemonrc(5) documents the keys of the table of settings, and only those; --help its options."""
    rows = re.findall(r'^\tX\((\w+), (\w+),.*?"([a-z-]+)",\s*\\?\s*"[^"]+",\s*\\?\s*(NULL|")',
                      read(root, "lib/control/settings.h"), re.M | re.S)
    keys = {key for key, kind, _, _ in rows if kind != "SEPARATION"}
    keys |= {"CHOSEN_EVENTS_n", "NR_CHOSEN"}
    lines = [line for line in read(root, "man/daemonrc.5.scd").splitlines() if line.startswith("*")]
    documented = set(re.findall(r"\*([A-Z][A-Z_]+n?)\*(?:=|,)", "\n".join(lines)))
    yield "daemonrc(5)", ([f"{key} is not in it" for key in sorted(keys - documented)] +
                          [f"{key} is no setting" for key in sorted(documented - keys)])
    for name in ("opcontrol", "oprofiled"):
        text = subprocess.run([tool_path(build, name), "--help"], capture_output=True, text=True,
                              check=True).stdout
        yield name, [f"--{option} is not in --help" for _, _, option, help in rows
                     if help != "NULL" and f"--{option}" not in text]


def check_chain_ends(root, _build):
    """oprofile-buffer(5) has the numbers and names of CHAIN_ENDS, opreport(1) the names."""
    table = re.findall(r'^\tX\(\w+, (\d+), "(\w+)"', read(root, "bpf/chain_end.h"), re.M)
    page = read(root, "man/oprofile-buffer.5.scd").partition("*CHAIN_END*\n")[2]
    documented = re.findall(r"^\|\s+(\d+)\n:\s+(\w+)$", page.partition("\n\n")[0], re.M)
    yield "oprofile-buffer(5)", [f"{a} where the table has {b}" for a, b in
                                 itertools.zip_longest(documented, table) if a != b]
    page = read(root, "man/opreport.1.scd").partition("*The chain ends because*\n")[2]
    listed = re.findall(r"^\|\s+(\w+)$", page.partition("\n\n")[0], re.M)
    yield "opreport(1)", sorted({name for _, name in table} - {"complete"} ^ set(listed))


def check_cpu_types(root, _build):
    """The CPU types that are detected, or known to libpfm4, are in the table of cpu_type.c."""
    key = r'"([a-z0-9-]+/[^"/ ]+)(?<!\.h)"'
    table = re.findall(r"\{ \d+, " + key, read(root, "lib/event/cpu_type.c"))
    for path in ("lib/event/internal/cpu_detect.c", "lib/event/evpfm.c"):
        yield path, [f"{name} is in no row of types[]"
                     for name in sorted(set(re.findall(key, read(root, path))) - set(table))]


def built_tools(build):
    for directory in ("tools", "daemon"):
        for name in os.listdir(os.path.join(build, directory)):
            path = os.path.join(build, directory, name)
            if os.path.isfile(path) and os.access(path, os.X_OK) and "." not in name:
                yield name


def file_names(root):
    """Yields the files and directories of the tree, relative to its root."""
    for path in sources(root, ""):
        yield path
        while path := os.path.dirname(path):
            yield path


def check_paths(root, _build):
    """Every file and directory that a *.md names exists."""
    there = {f"/{path}" for path in file_names(root)}
    tops = "|".join(name for name in sorted(os.listdir(root))
                    if name[0] != "." and os.path.isdir(f"{root}/{name}"))
    named = re.compile(rf"(?<![\w/.~$-])((?:{tops})/[\w*./-]*\w|[\w*/-]+\.(?:bpf\.)?[ch])\b"
                       r"(?![-/.]?\w)")
    for path in sources(root, ".md"):
        if path.startswith("tests/fixtures/"):  # names files of the kernel
            continue
        missing = [name for name in named.findall(read(root, path))
                   if not name.startswith("build") and not re.search(r"(^|/)[A-Z]+\b(?!\.md)", name)
                   and not fnmatch.filter(there, f"*/{name}") and f"/{name}.c" not in there]
        yield path, [f"{name} does not exist" for name in sorted(set(missing))]


# Usages that a native speaker would not write, and what to write instead.
WORDS = {
    "anew": "again",
    "likewise": "the same",
    "once more": "again",
    "beside": "next to",
    "beneath": "below",
    "behind": "after",
    "stands?(?! for|-)": "is, is stored",
    "lies": "is",
    "tells": "reports, names",
    "(?:is|are|was|were|be) told(?! apart)": "is passed, is named",
    "(?:tell|told) of": "report",
    "mend(?:s|ed|ing)?": "repair",
    "of no matter": "ignored",
    "for want of": "because there is no",
    "to speak of": "negligible",
    "(?:do|does|did|done) without": "is turned off, does not need",
    "to be had": "available",
    "goes? without saying": "is obvious",
    "exclude each other": "cannot be combined",
    "a second and CPU": "per second per CPU",
    "nobody (?:told|tells)": "unknown",
    "may no more": "can no longer",
    "(?:sees?|saw|seen) to it": "ensures",
    "as of old": "as in OProfile 1.x",
    "in the midst": "during",
    "twice over": "twice",
    "aloud": "with a message",
    "at all events": "in any case",
    "please say": "specify",
    "there (?:is|are): ": "available: ",
}


def prose_of(root, path):
    """Returns the prose of a file: a manual without examples; comments and strings of a source."""
    def blank(found):
        return re.sub(r"[^\n]", " ", found[0])

    text = read(root, path)
    if path.endswith((".md", ".scd")):
        return re.sub(r"^```.*?^```$|(?<=\n\n)(?:    [^\n]*\n)+", blank, text, flags=re.M | re.S)
    kept = r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
    return "".join(part if i % 2 else re.sub(r"[^\n]", " ", part)
                   for i, part in enumerate(re.split(f"({kept})", text, flags=re.S)))


def check_words(root, _build):
    """Manuals, comments and strings avoid the usages in WORDS."""
    banned = {re.compile(r"\b(?:" + usage.replace(" ", r"[\s*]+") + r")\b", re.I): instead
              for usage, instead in WORDS.items()}
    for path in sources(root, ".md", ".scd", ".c", ".h"):
        text = prose_of(root, path)
        yield path, [f"line {text.count(chr(10), 0, found.start()) + 1}: '{found[0]}': {instead}?"
                     for usage, instead in banned.items() for found in usage.finditer(text)]


def check_stack(root, _build):
    """The BPF program needs no more stack than any kernel allows, on each architecture."""
    yield "bpf/sample.bpf.c", stack_errors(root)


def check_packages(root, _build):
    """debian/control builds with the packages of scripts/install-deps, and its version is meson's."""
    wanted = re.search(r'^packages="([^"]*)"', read(root, "scripts/install-deps"), re.M).group(1)
    stanza = re.search(r"^Build-Depends:\n((?: .*\n)*)", read(root, "debian/control"), re.M).group(1)
    implied = {"gcc", "libc6-dev", "pkg-config"}  # by build-essential and meson
    yield "debian/control", [f"Build-Depends lacks {name}" for name in wanted.split()
                             if name not in implied | set(re.findall(r"[\w.+-]+", stanza))]
    version = re.search(r"version: '([^']*)'", read(root, "meson.build")).group(1)
    for path, form in (("debian/changelog", f"oprofile ({version})"),
                       ("packaging/oprofile.spec", f"Version:        {version}\n")):
        yield path, [] if form in read(root, path) else [f"the version is not {version}"]


CHECKS = {
    "spdx": check_spdx,
    "includes": check_includes,
    "cycles": check_cycles,
    "names": check_names,
    "builds": check_builds,
    "headers": check_headers,
    "comments": check_comments,
    "examples": check_examples,
    "format": check_format,
    "lengths": check_lengths,
    "opens": check_opens,
    "changes": check_changes,
    "looks": check_looks,
    "options": check_options,
    "exits": check_exits,
    "settings": check_settings,
    "chainends": check_chain_ends,
    "cputypes": check_cpu_types,
    "paths": check_paths,
    "words": check_words,
    "stack": check_stack,
    "packages": check_packages,
}


def main():
    root, build, *checks = sys.argv[1:]
    checks = checks or list(CHECKS)
    failed = 0
    print(f"1..{len(checks)}")
    for number, check in enumerate(checks, 1):
        try:
            wrong = [f"{what}: {line}" for what, lines in CHECKS[check](root, build)
                     for line in lines]
        except FileNotFoundError as missing:
            print(f"ok {number} - {check} # SKIP {missing.filename} is not installed")
            continue
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {check}: {CHECKS[check].__doc__}")
        for line in wrong:
            print(f"# {line}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
