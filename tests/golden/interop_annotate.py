#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""interop_annotate.py OPANNOTATE OPREPORT: reads sessions that OProfile 1.x wrote, and compares our
annotated sources and assembly with its own: the same counts before the same lines and instructions,
the same sums. Prints TAP.

Deliberate differences ("it" is OProfile 1.x):

 OUTSIDE   Its percentages are of the samples in symbols, ours of all samples, as in opreport.
 NOSOURCE  Without source it credits all samples to "line zero" of a file guessed from the symbol
           table. We read the debug file of libc if it is installed, and print the lines by
           number; such files are not compared.
 HEADERS   Sources that are not in the archive (those of libstdc++) are compared if this machine
           has them.
 ONCE      It prints image and section above every symbol; we print them once.
 NAMES     In branch targets it shows the nearest symbol that objdump has, which in a stripped
           library belongs to another function; names are not compared.
 DYNSYM    It shows no symbol of a library that has only dynamic ones.
 REPEAT    It once lost its place in objdump's output and repeated 23,000 instructions of it, from
           the middle of a line on; we compare up to there.
 CONTEXT   With --source --assembly it chooses the source lines above instructions depending on what
           it printed for earlier functions; only the instructions are compared, and that there is
           source."""
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

from interop import not_offered, shared

def counts_of(text):
    return [int(n) for n in text.split()[0::2]]


def without_remarks(line):
    """A line without the comment after it: totals of functions and, which the original does not
    have, of what is inlined there."""
    remark = r" /\* (?:(?! /\* ).)* (?:total|inlined): [ \d.e+-]+\*/$"
    while re.search(remark, line):
        line = re.sub(remark, "", line)
    return line


def sources(text, classes):
    """{path: (sums, [(counts, line of source)])}"""
    files, lines = {}, None
    parts = re.split(r'/\* ?\n \* Total samples for file : "(.*)"\n \* ?\n \*(.*)\n \*/\n', text)
    for path, sums, body in zip(parts[1::3], parts[2::3], parts[3::3]):
        lines = []
        for line in body.splitlines():
            m = re.match(r" *((?:\d+ +[\d.e-]+ +){%d})?:(.*)" % classes, line)
            if m:
                lines.append((counts_of(m[1] or ""), without_remarks(m[2])))
        while lines and not lines[-1][0] and not lines[-1][1]:
            lines.pop()
        files[path] = (counts_of(sums), lines)
    return files


def assembly(text, classes):
    """{(image, address): (sums, [(counts, address, instruction)])} and the number of other lines"""
    symbols, image, current, other = {}, None, None, 0
    for line in text.splitlines():
        m = re.match(r" *:(.*): +file format", line)
        if m:
            image = os.path.basename(m[1])
            continue
        m = re.match(r"([0-9a-f]{8,}) <.*>: /\* .* total: (.*) \*/", line)
        if m:
            current = (counts_of(m[2]), [])
            symbols[image, int(m[1], 16)] = current
            continue
        m = re.match(r" *((?:\d+ +[\d.e-]+ +){%d})?: *([0-9a-f]+):\t(.*)" % classes, line)
        if m and current:
            words = re.sub(r"<.*>|#.*", "", m[3]).split()  # NAMES
            current[1].append((counts_of(m[1] or ""), int(m[2], 16), " ".join(words)))
        elif line.strip() not in ("", ":"):
            other += 1
    return symbols, other


class Case:
    def __init__(self, tools, session, name, path):
        self.tools, self.session, self.name = tools, session, name
        read = lambda ending: open(path + ending, encoding="utf-8", errors="replace").read()
        self.words = read(".cmd").split()[1:]
        self.out, self.code = read(".out"), int(read(".rc"))
        self.problems = []

    def say(self, text):
        self.problems.append(text)

    def run(self, tool, *more):
        return subprocess.run([tool, *more], capture_output=True, text=True, check=False,
                              errors="replace")

    def compare(self):
        words = [w for w in self.words if not w.startswith("--")]
        result = self.run(self.tools[0], *self.words, "--search-dirs=../src",
                          "--base-dirs=/opt/interop/src")
        if self.code:
            if result.returncode == 0:
                self.say("exits 0 where the original refuses")
            return
        if result.returncode:
            self.say(f"exits {result.returncode}: {result.stderr}")
            return
        whole = json.loads(self.run(self.tools[1], "--json", "--merge=lib", *words).stdout)
        totals = [c["samples"] for c in whole["classes"]]
        self.check_percents(result.stdout, totals)
        if "--assembly" in self.words:
            self.compare_assembly(result.stdout, totals, whole)
        else:
            self.compare_sources(result.stdout, totals)

    def rest(self, text, classes):
        """The sums of what is said to be left out."""
        found = re.search(r"/\*\n \* Samples that are not shown above:\n \*\n((?: \* .*\n)*)", text)
        rows = [counts_of(m[1]) for m in
                re.finditer(r" \* *((?:\d+ +[\d.e-]+ +){%d})" % classes, found[1] if found else "")]
        return [sum(c) for c in zip(*rows)] if rows else [0] * classes

    def check_percents(self, text, totals):
        for line in text.splitlines():
            m = re.match(r" *((?:\d+ +[\d.e-]+ +){%d}):" % len(totals), line)
            if not m:
                continue
            numbers = m[1].split()
            for count, share, total in zip(numbers[0::2], numbers[1::2], totals):
                if abs(float(share) - 100.0 * int(count) / total) > max(0.00006, float(share) / 18):
                    self.say(f"percentage in {line}")

    def add_up(self, what, sums, text, totals):
        ours = [sum(c) for c in zip(*(s for s, _ in sums))]
        all_of_it = [a + b for a, b in zip(ours, self.rest(text, len(totals)))]
        if all_of_it != totals:
            self.say(f"{what} and rest add up to {all_of_it}, opreport to {totals}")

    def compare_sources(self, text, totals):
        theirs, ours = (sources(t, len(totals)) for t in (self.out, text))
        self.add_up("files", ours.values(), text, totals)
        compared = 0
        for path, (sums, lines) in theirs.items():
            if not path.startswith("/"):  # NOSOURCE
                continue
            if path.startswith("/usr") and not os.path.exists(path):  # HEADERS
                continue
            compared += 1
            if path not in ours:
                self.say(f"{path} is missing")
            elif ours[path][0] != sums:
                self.say(f"{path}: {ours[path][0]} != {sums}")
            elif ours[path][1] != lines:
                for a, b in zip(lines, ours[path][1]):
                    if a != b:
                        self.say(f"{path}: {a} != {b}")
                self.say(f"{path}: {len(lines)} and {len(ours[path][1])} lines")
        if not compared:
            self.say("nothing to compare")

    def compare_assembly(self, text, totals, whole):
        (theirs, _), (ours, other) = (assembly(t, len(totals)) for t in (self.out, text))
        self.add_up("symbols", ours.values(), text, totals)
        if not theirs:
            self.say("nothing to compare")
        for key, (sums, instructions) in theirs.items():
            if key not in ours:
                self.say(f"{key} is missing")
                continue
            if ours[key][0] != sums:
                self.say(f"{key}: {ours[key][0]} != {sums}")
            self.compare_instructions(key, instructions, ours[key][1])
        if "--source" in self.words and not other:
            self.say("no line of source")

    def compare_instructions(self, key, theirs, ours):
        # The original goes on to the next symbol, through the padding between them.
        end = max(address for _, address, _ in ours)
        forward = [a[1] < b[1] for a, b in zip(theirs, theirs[1:])] + [False]
        theirs = theirs[:forward.index(False) + 1]  # REPEAT
        theirs = [i for i in theirs if i[0] or i[1] <= end]
        for a, b in zip(theirs, ours):
            if a != b:
                self.say(f"{key}: {a} != {b}")
                return
        if len(theirs) != len(ours):
            self.say(f"{key}: {len(ours)} instructions, not {len(theirs)}")


def run_cases(tools, work):
    offered = set(re.split(r"[\s=]+", subprocess.run([tools[0], "--list-options"], text=True,
                                                     capture_output=True, check=True).stdout))
    expected = os.path.join(work, "expected")
    failed = number = 0
    for session in sorted(os.listdir(expected)):
        for file in sorted(os.listdir(os.path.join(expected, session))):
            name, ending = os.path.splitext(file)
            path = os.path.join(expected, session, name)
            if ending != ".cmd" or not open(path + ending).read().startswith("opannotate"):
                continue
            number += 1
            case = Case(tools, session, name, path)
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
    return failed


def main():
    tools = [os.path.abspath(path) for path in sys.argv[1:3]]
    tar = shared()
    if not tar:
        print("1..0 # SKIP no interop data (shared/interop/sessions.tar.xz)")
        return 0
    work = tempfile.mkdtemp(prefix="optest-interop-")
    try:
        with tarfile.open(tar) as archive:
            archive.extractall(work)
        os.chdir(os.path.join(work, "archives"))
        failed = run_cases(tools, work)
    finally:
        shutil.rmtree(work)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
