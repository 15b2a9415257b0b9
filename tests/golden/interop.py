#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""interop.py OPREPORT: reads sessions that OProfile 1.x wrote, and compares our reports with the reports
of OProfile 1.x: the same rows, counts, percentages, names and order. Prints TAP.

Deliberate differences, in which OProfile 1.x ("it") is wrong or shows less:

 OUTSIDE   It drops samples outside of any symbol (PLT entries, padding) from -l, and its percentages
           are of the rest. We show them, so our total is larger.
 DYNSYM    It does not read .dynsym: a stripped library is one row with its path. We name the
           functions; the rows add up to its one row.
 ALIAS     Of several kernel names at one address it takes the first in kallsyms; we prefer one
           without underscores.
 NONAME    For code without a symbol it repeats the image's name as symbol; we give the reason.
 ARCHIVE   image: and lib-image: with the path or name of a file in an archive match nothing,
           because it compares with the archive's directory in front. We find the file.
 PREFIX    With -f it shows paths in an archive after the archive's directory.
 ONEIMAGE  With -x it leaves out the column of images.
 KERNEL    Its -i always keeps the kernel's symbols in the report.
 ORDER     It orders rows by the first column only. We order them by the sum of all columns.
 NAMES     It calls the kernel kallsyms, and regions of run-time code by their addresses; we say
           [kernel], and [JIT program] unless --separate-regions is given.
 LINE      We know lines of code for which it shows "(no location information)", and do not show
           line 0, which it takes from the name of a file in the symbol table ("msort.c:0").
 BEGIN     Where a function begins with code of another one, which is inlined, it says the line of that
           code, often in another file. We say the line of the function that has the call."""
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import interop_calls
from interop_rows import STRIPPED, is_outside, percent, split_names, unnamed

PREFIX = "/opt/interop/archives/"
# ARCHIVE; in separate/img two axes conflict, special has no such image
FOUND_BY_US = {f"{session}/{case}" for case in ("img", "lib") for session in (
    "callgraph", "cpp", "events", "flat", "previous", "separate", "special", "umask")}
FOUND_BY_US -= {"separate/img", "special/img"}
ALIASES = {"__pi_memcpy": "memcpy"}  # ALIAS
BEGINS = {"stl_iterator.h:1333": "stl_algo.h:1912"}  # BEGIN: std::__introsort_loop
SUMMARY = {"image", "mergelib"}


def shared():
    root = os.environ.get("OP_SOURCE_ROOT", ".")
    for path in (os.environ.get("OP_SHARED"), os.path.join(root, "..", "shared")):
        if path and os.path.exists(os.path.join(path, "interop", "sessions.tar.xz")):
            return os.path.join(path, "interop", "sessions.tar.xz")
    return None


class Row:
    def __init__(self, vma, numbers, names, archive, place=None):
        self.vma, self.place = vma, place
        self.details = []  # of -d: (vma, numbers, place)
        self.counts = [int(n) for n in numbers[0::2]]
        self.percents = numbers[1::2]
        self.image, _, self.symbol = names
        self.image = self.image.replace(PREFIX + archive, "")
        if unnamed(self.symbol):
            self.symbol = "-"

    def key(self):
        return (self.vma, self.counts, self.image, self.symbol, self.details)

    def __repr__(self):
        text = f"{self.vma or ''} {self.counts} {self.place or ''} {self.image} {self.symbol}"
        return text + (f" {self.details}" if self.details else "")


def symbol_rows(text, classes, archive, one_image):
    rows = []
    for line in text.splitlines():
        m = re.match(r"(  )?(?:([0-9a-f]{8,16}) )?((?:\d+ +[\d.e-]+(?: +|$)){%d})"
                     r"(\(no location information\)|\S+:\d+(?= ))?(.*)" % classes, line)
        if m and m[1]:
            rows[-1].details.append((m[2], m[3].split()))
        elif m:
            rows.append(Row(m[2], m[3].split(), split_names(m[5], one_image), archive, m[4]))
    return rows


def summary_rows(text, classes):
    rows = []
    for line in text.splitlines():
        m = re.match(r"(\t?) *((?:\d+ +[\d.e-]+ +){%d})(.*)" % classes, line)
        if m:
            rows.append((m[1], m[2].split(), m[3]))
    return rows


class Case:
    wholes = {}

    def __init__(self, tool, session, name, path):
        self.tool, self.session, self.name = tool, session, name
        read = lambda ending: open(path + ending, encoding="utf-8", errors="replace").read()
        self.words = read(".cmd").split()[1:]
        self.out, self.code = read(".out"), int(read(".rc"))
        self.problems = []

    def say(self, text):
        self.problems.append(text)

    def run(self, *more):
        result = subprocess.run([self.tool, *self.words, "--separate-regions", *more],
                                capture_output=True, text=True, check=False, errors="replace")
        result.stdout = result.stdout.replace("[kernel]", "kallsyms")  # NAMES
        return result

    def compare(self):
        result = self.run()
        if self.code:
            if f"{self.session}/{self.name}" in FOUND_BY_US:
                if result.returncode or not result.stdout:
                    self.say("found nothing: " + result.stderr)
            elif result.returncode == 0:
                self.say("exits 0 where the original refuses")
            return
        if result.returncode:
            self.say(f"exits {result.returncode}: {result.stderr}")
            return
        whole = self.whole()
        if "-c" in self.words:
            interop_calls.compare(self, result.stdout, PREFIX + self.session, whole)
        elif self.name in SUMMARY:
            self.compare_summary(result.stdout, len(whole["classes"]))
        else:
            self.compare_symbols(result.stdout, whole)

    def whole(self):
        """All rows of the report as JSON; the same for all cases that differ in how they show it."""
        shown_by = {"-f", "-w", "-a", "-r", "-d", "-g", "-s", "image,symbol", "vma", "-t", "1"}
        key = tuple(word for word in self.words if word not in shown_by)
        if key not in Case.wholes:
            report = subprocess.run([self.tool, *key, "--separate-regions", "--json"],
                                    capture_output=True, check=False)
            Case.wholes[key] = json.loads(report.stdout.decode("utf-8", "replace"))
        return Case.wholes[key]

    def compare_summary(self, text, classes):
        theirs, ours = summary_rows(self.out, classes), summary_rows(text, classes)
        if not theirs:
            self.say("the expectation has no rows")
        for a, b in zip(theirs, ours):
            if a != b:
                self.say(f"{a} != {b}")
        if len(theirs) != len(ours):
            self.say(f"{len(theirs)} rows != {len(ours)}")

    def compare_symbols(self, text, whole):
        classes = len(whole["classes"])
        if "-a" in self.words:
            self.out, text = (self.without_sums(t, classes) for t in (self.out, text))
        theirs = symbol_rows(self.out, classes, self.session, "-x" in self.words)
        ours = symbol_rows(text, classes, self.session, False)
        if not theirs:
            self.say("the expectation has no rows")
        if self.name == "incl":
            theirs = self.without_kernel(theirs, ours)
        stripped = {r.image for r in theirs + ours if os.path.basename(r.image) in STRIPPED}
        self.check_percents(theirs, ours, whole, stripped)
        if "-x" in self.words:  # ONEIMAGE
            for row in ours:
                row.image = ""
        ours = [r for r in ours
                if r.image in stripped or not is_outside(r.symbol)]  # OUTSIDE
        theirs, ours = self.without_dynsym(theirs, ours, stripped)
        theirs, ours = self.without_aliases(list(theirs), list(ours))
        if classes > 1:
            theirs, ours = self.without_order(theirs, ours)
        for a, b in zip(theirs, ours):
            if a.key() != b.key() or not self.same_place(a.place, b.place):
                self.say(f"{a} != {b}")
        if len(theirs) != len(ours):
            self.say(f"{len(theirs)} rows != {len(ours)}")
        if "-d" in self.words and not any(r.details for r in theirs):
            self.say("the expectation has no details")

    @staticmethod
    def same_place(theirs, ours):
        """Whether we say the same line, or one where the original knows none (LINE) or that of inlined code (BEGIN)."""
        return BEGINS.get(theirs, theirs) == ours or ours and (theirs.startswith("(") or theirs.endswith(":0"))

    def without_order(self, theirs, ours):
        """Both lists in one order, if ours is ordered by the sum of the columns (ORDER)."""
        sums = [sum(r.counts) for r in ours]
        if "-s" not in self.words and sums != sorted(sums, reverse="-r" not in self.words):
            self.say("our rows are not ordered by the sum of their columns")
        return (sorted(rows, key=lambda r: repr(r.key())) for rows in (theirs, ours))

    @staticmethod
    def without_kernel(theirs, ours):
        """Takes the kernel's symbols that were not asked for out of the original's list, and their
        share out of its percentages (KERNEL)."""
        wanted = {r.symbol for r in ours}
        left = [r for r in theirs if r.image != "kallsyms" or r.symbol in wanted]
        before, after = ([sum(c) for c in zip(*(r.counts for r in rows))] for rows in (theirs, left))
        for row in left:
            if row.percents != [percent(c, t) for c, t in zip(row.counts, before)]:
                return theirs  # which then differ
            row.percents = [percent(c, t) for c, t in zip(row.counts, after)]
        return left

    @staticmethod
    def without_sums(text, classes):
        """Takes the accumulated columns out of a list made with -a."""
        pair = re.compile(r"(\d+) +\d+ +([\d.e-]+) +[\d.e-]+ +")
        lines = []
        for line in text.splitlines():
            rest, head = line, ""
            for _ in range(classes):
                m = pair.match(rest)
                if not m:
                    break
                head += f"{m[1]} {m[2]} "
                rest = rest[m.end():]
            lines.append(head + rest)
        return "\n".join(lines)

    def check_percents(self, theirs, ours, whole, stripped):
        """Each side's percentages are those of its own total."""
        for i, cls in enumerate(whole["classes"]):
            total = cls["samples"]
            outside = sum(r["samples"][i] for r in whole["rows"]
                          if is_outside(r["symbol"] or r["why"])
                          and os.path.basename(r["image"]) not in STRIPPED)
            for row in theirs:
                if row.percents[i] != percent(row.counts[i], total - outside):
                    self.say(f"percentage of {row} is {row.percents[i]} of {total - outside}")
            for row in ours:
                if row.percents[i] != percent(row.counts[i], total):
                    self.say(f"our percentage of {row} is {row.percents[i]} of {total}")

    def without_aliases(self, theirs, ours):
        """Takes the rows out that have another name here, and so another place (ALIAS)."""
        for their, our in ALIASES.items():
            a = [r for r in theirs if r.symbol == their and not any(o.symbol == their for o in ours)]
            for row in a:
                same = [o for o in ours if o.symbol == our and o.counts == row.counts]
                if not same:
                    self.say(f"{row} is missing, as {our} too")
                    continue
                theirs.remove(row)
                ours.remove(same[0])
        return theirs, ours

    def without_dynsym(self, theirs, ours, stripped):
        """Holds the images that have only dynamic symbols against each other by their sums, and
        takes them out of both lists (DYNSYM)."""
        for image in stripped:
            a, b = ([r for r in rows if r.image == image] for rows in (theirs, ours))
            if [sum(c) for c in zip(*(r.counts for r in a))] != \
               [sum(c) for c in zip(*(r.counts for r in b))]:
                self.say(f"{image}: the rows add up to something else")
        return ([r for r in rows if r.image not in stripped] for rows in (theirs, ours))


def not_offered(words, offered):
    for word in words:
        option = word.split("=")[0]
        if option.startswith("-") and option not in offered:
            return option
    return None


def main():
    tool = os.path.abspath(sys.argv[1])
    tar = shared()
    if not tar:
        print("1..0 # SKIP no interop data (shared/interop/sessions.tar.xz)")
        return 0
    offered = set(re.split(r"[\s=]+", subprocess.run([tool, "--list-options"], capture_output=True,
                                                     text=True, check=True).stdout))
    work = tempfile.mkdtemp(prefix="optest-interop-")
    failed = number = 0
    try:
        with tarfile.open(tar) as archive:
            archive.extractall(work)
        os.chdir(os.path.join(work, "archives"))
        expected = os.path.join(work, "expected")
        for session in sorted(os.listdir(expected)):
            for file in sorted(os.listdir(os.path.join(expected, session))):
                name, ending = os.path.splitext(file)
                path = os.path.join(expected, session, name)
                if ending != ".cmd" or not open(path + ending).read().startswith("opreport"):
                    continue
                number += 1
                case = Case(tool, session, name, path)
                if "-X" in case.words and not case.code:
                    print(f"ok {number} - {session}/{name} # SKIP see interop_xml.py")
                    continue
                missing = not_offered(case.words, offered)
                if missing:
                    print(f"ok {number} - {session}/{name} # SKIP not offered: {missing}")
                    continue
                case.compare()
                for problem in case.problems[:10]:
                    print("# " + problem.strip().replace("\n", "\n# "))
                failed += bool(case.problems)
                print(f"{'not ok' if case.problems else 'ok'} {number} - {session}/{name}")
        print(f"1..{number}")
    finally:
        shutil.rmtree(work)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
