# SPDX-License-Identifier: GPL-2.0-or-later
"""python_check.py SOURCE DETAILS CHAINS: compares what was profiled of a Python program with what
Python itself says: each line must be one of its function in co_lines(), each stack one that
sys._getframe() shows in another run. DETAILS is the output of opreport -d -g --json, CHAINS that of
--chains --json. Prints both shares; fails if less than 99.9 % are right."""
import contextlib
import dis
import io
import json
import runpy
import sys

source, details, chains = sys.argv[1:]


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def lines_of(code, found):
    """Adds the lines of all functions in @code to @found, by name."""
    lines = found.setdefault(name_of(code), {code.co_firstlineno})
    if hasattr(code, "co_lines"):
        lines.update(line for _, _, line in code.co_lines() if line)
    else:
        lines.update(line for _, line in dis.findlinestarts(code))
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            lines_of(constant, found)
    return found


def stacks_of():
    """Runs the program; returns all its stacks, the innermost function first."""
    found = set()

    def note(frame, event, _):
        stack = []
        while event == "call" and frame:
            if frame.f_code.co_filename == source:
                stack.append(name_of(frame.f_code))
            frame = frame.f_back
        found.add(tuple(stack))

    sys.argv = [source, "0.01"]
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        sys.setprofile(note)
        runpy.run_path(source, run_name="__main__")
        sys.setprofile(None)
    return found


def shown(what, good, total):
    share = 100 * good / max(total, 1)
    print(f"{share:.2f} % of {total} samples have the right {what}")
    return total >= 100 and share >= 99.9


with open(source, encoding="utf-8") as f:
    known = lines_of(compile(f.read(), source, "exec"), {})
good = total = 0
with open(details, encoding="utf-8") as f:
    for row in json.load(f)["rows"]:
        if row["image"] != source:
            continue
        for place in row["details"]:
            n = sum(place["samples"])
            total += n
            if place.get("line") in known.get(row["symbol"], ()):
                good += n
            else:
                print(row["symbol"], place)
right = shown("line", good, total)

stacks = stacks_of()
good = total = 0
with open(chains, encoding="utf-8") as f:
    report = json.load(f)
for chain in report["chains"]:
    frames = [report["functions"][i] for i in chain["frames"]]
    stack = tuple(f["symbol"] for f in frames if f["image"] == source)
    if stack:
        total += chain["samples"]
        good += chain["samples"] * (stack in stacks)
        if stack not in stacks:
            print(stack, chain["samples"])
sys.exit(not shown("stack", good, total) or not right)
