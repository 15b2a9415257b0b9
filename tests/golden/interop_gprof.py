#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""interop_gprof.py OPGPROF OPREPORT: for sessions of OProfile 1.x, compares gprof's output from our
gmon.out with its output from the gmon.out of OProfile 1.x, and the arcs in it with those of opreport
-c. Prints TAP. Deliberate differences:

 CONSTPROP  gprof skips sorter.constprop.0 and counts its code for thread_main, which precedes it.
            We leave such samples out and say so; OProfile 1.x counts them for thread_main.
 PLT        The same for PLT entries, which gprof counts for _init; we have a row without samples."""
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

from interop import shared

CONSTPROP = {"callgraph": 5, "flat": 31, "previous": 27, "separate": 33}
PLT = {"cpp": 1}
ARCS = {"callgraph": 2, "cpp": 5}  # how many arcs within the program


def rows(text):
    """{function: [self samples, calls]} of a flat profile, functions without samples left out."""
    found = {}
    for line in text.splitlines():
        m = re.match(r" *[\d.]+ +[\d.]+ +([\d.]+) (?: {34}| +(\d+) +[\d.]+ +[\d.]+ )? *(\S.*)", line)
        if m and float(m[1]):
            found[m[3]] = [float(m[1]), int(m[2] or 0)]
    return found


def gprof_arcs(gmon, image):
    """{(caller, callee): calls} of a call graph: the lines above each function's own."""
    graph = subprocess.run(["gprof", "-b", "-q", "--no-demangle", image, gmon], check=True,
                           capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    arcs, callers = {}, []
    for line in graph.stdout.splitlines():
        m = re.match(r"(\[\d+\] +[\d.]+)? +(?:\d+\.\d+ +\d+\.\d+ +)?([\d+]+(?:/\d+)?)? +(\S+) \[\d+\]$", line)
        if line.startswith("---"):
            callers = []
        elif m and m[1]:
            arcs.update({(caller, m[3]): calls for caller, calls in callers})
            callers = None
        elif m and m[2] and callers is not None:
            callers.append((m[3], int(m[2].split("/")[0])))
    return arcs


def report_arcs(opreport, session, image):
    """The same of opreport, as far as gprof can show them: within the image, between functions."""
    report = subprocess.run([opreport, "archive:" + session, "-c", "--json", "-D", "none",
                             "lib-image:" + image], check=True, capture_output=True, text=True)
    known = lambda row: row["image"] == image and row["symbol"] and \
        not re.search(r"@plt$|\.", row["symbol"])  # PLT, CONSTPROP
    return {(caller["symbol"], row["symbol"]): caller["samples"][0]
            for row in json.loads(report.stdout)["rows"] if known(row)
            for caller in row["callers"] if known(caller)}


def compare_arcs(opreport, session, image, gmon):
    ours, seen = report_arcs(opreport, session, image), gprof_arcs(gmon, session + image)
    if ARCS[session] != len(seen):
        yield f"gprof shows {len(seen)} arcs"
    for arc in sorted(set(ours) | set(seen)):
        if ours.get(arc) != seen.get(arc):
            yield f"{arc}: opreport {ours.get(arc)}, gprof {seen.get(arc)}"


def compare(opgprof, session, image, expected):
    out = os.path.join(expected, session)
    gmon = os.path.join(out, "ours")
    rc = int(open(os.path.join(out, "gprof.rc")).read())
    done = subprocess.run([opgprof, "archive:" + session, "-o", gmon, image], capture_output=True,
                          text=True, check=False)
    if rc or done.returncode:
        return [] if rc and done.returncode and done.stderr else [f"{rc}, we exit {done.returncode}: {done.stderr}"]
    flat = subprocess.run(["gprof", "-b", "-p", session + image, gmon], capture_output=True,
                          text=True, check=True, env={**os.environ, "LC_ALL": "C"})
    theirs, ours = rows(open(os.path.join(out, "gprofflat.out")).read()), rows(flat.stdout)
    problems = [] if theirs else ["the expectation has no rows"]
    hidden = CONSTPROP.get(session, 0) + PLT.get(session, 0)
    if hidden and f"{hidden} of" not in done.stderr:
        problems.append(f"does not say that {hidden} samples are left out: {done.stderr}")
    if session in CONSTPROP:
        theirs["thread_main"][0] -= CONSTPROP[session]
        theirs["thread_main"][1] = 0
        if not theirs["thread_main"][0]:
            del theirs["thread_main"]
    return problems + [f"{name}: {theirs.get(name)} != {ours.get(name)}"
                       for name in sorted(set(theirs) | set(ours))
                       if theirs.get(name) != ours.get(name)]


def main():
    opgprof = os.path.abspath(sys.argv[1])
    opreport = os.path.abspath(sys.argv[2])
    tar = shared()
    if not tar or not shutil.which("gprof"):
        print("1..0 # SKIP no " + ("gprof" if tar else "interop data (shared/interop/sessions.tar.xz)"))
        return 0
    work = tempfile.mkdtemp(prefix="optest-interop-")
    failed = 0
    try:
        with tarfile.open(tar) as archive:
            archive.extractall(work)
        os.chdir(os.path.join(work, "archives"))
        expected = os.path.join(work, "expected")
        sessions = sorted(s for s in os.listdir(expected)
                          if os.path.exists(os.path.join(expected, s, "gprof.cmd")))
        for number, session in enumerate(sessions, 1):
            with open(os.path.join(expected, session, "gprof.cmd")) as command:
                image = command.read().split()[-1]
            problems = compare(opgprof, session, image, expected)
            gmon = os.path.join(expected, session, "ours")
            if session in ARCS:
                problems += compare_arcs(opreport, session, image, gmon)
            for problem in problems:
                print("# " + problem.strip())
            failed += bool(problems)
            print(f"{'not ok' if problems else 'ok'} {number} - {session}")
        print(f"1..{len(sessions)}")
    finally:
        shutil.rmtree(work)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
