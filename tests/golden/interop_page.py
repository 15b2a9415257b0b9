#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""interop_page.py OPREPORT MKSESSION ELF: a page has the same numbers as other reports. For each golden
session with call chains, the samples of each function in the page must be those of opreport --children.
Prints TAP."""
import collections
import json
import os
import subprocess
import sys
import tempfile

from page import read_page, totals


OPREPORT, MKSESSION, ELF = (os.path.abspath(path) for path in sys.argv[1:4])

# As many frames as a chain may have, and one less.
LONGEST = "cpu 4\nfile ./elf/exe-pie ./elf/exe-pie TIMER.0.0.all.all.all\n    main 12\n" + "".join(
    f"chain ./elf/exe-pie TIMER.0.0.all.all.all complete {samples} ./elf/exe-pie marked_first" +
    (frames - 1) * " ./elf/exe-pie main+5" + "\n" for samples, frames in ((7, 2048), (5, 2047)))


def opreport(*arguments):
    done = subprocess.run([OPREPORT, *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def of_page(path):
    """{(image, name): [(own samples, samples in chains), ...]} of the rows that are no applications."""
    head, columns = read_page(path)
    own, everywhere = totals(columns)
    found = collections.defaultdict(list)
    for f, kind in enumerate(head["functions"]["kind"]):
        if f in everywhere and kind not in (0, 7, 9):
            image = head["images"][head["functions"]["image"][f]]["path"]
            found[image, head["functions"]["name"][f]].append((own.get(f, 0), everywhere[f]))
    return {key: sorted(values) for key, values in found.items()}


def of_report(*arguments):
    found = collections.defaultdict(list)
    for f in json.loads(opreport("--children", "--json", *arguments))["functions"]:
        found[f["image"], f["symbol"] or f["why"]].append((f["self"], f["children"]))
    return {key: sorted(values) for key, values in found.items()}


def event_of(path):
    """The words for the event that a page shows, if there are several."""
    name, _, count = read_page(path)[0].get("event_key", "").partition(",")
    return [f"event:{name}"] * bool(name) + [f"count:{count}"] * bool(count)


def check(session):
    if opreport("--html=page.html", f"--session-dir={session}") is None:
        return None
    if of_page("page.html") != of_report(f"--session-dir={session}", *event_of("page.html")):
        return "other numbers than --children"
    return ""


def golden_sessions(cases):
    """The names and texts of the golden sessions with call chains."""
    for name in sorted(os.listdir(cases)):
        path = os.path.join(cases, name, "session")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if "\nchain " in text:
            yield name, text


def main():
    cases = os.path.join(os.path.dirname(os.path.abspath(__file__)), "opreport")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.symlink(ELF, "elf")
        number = failed = 0
        for name, text in [*golden_sessions(cases), ("longest-chains", LONGEST)]:
            made = subprocess.run([MKSESSION, name], input=text, check=text == LONGEST, capture_output=True, text=True)
            wrong = check(name) if made.returncode == 0 else None
            if wrong is None:
                continue
            number += 1
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {number} - {name}" + (f": {wrong}" if wrong else ""))
        print(f"1..{number}")
        return 1 if failed or number < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
