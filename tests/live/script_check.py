# SPDX-License-Identifier: GPL-2.0-or-later
"""script_check.py SHARES STACKS FOLDED: compares what was profiled of a program in PHP or Ruby with
what it printed of itself: the CPU time of each kind of work, and the stacks that the language shows
(debug_backtrace(), caller_locations), the outermost function first, all of which end in spin()."""
import sys

shares, stacks, folded = sys.argv[1:]
spent = {}
with open(shares, encoding="utf-8") as f:
    for line in f:
        kind, ms = line.split()
        spent[kind] = int(ms)
with open(stacks, encoding="utf-8") as f:
    known = set(f.read().split("\n")) - {""}
functions = {name for stack in known for name in stack.split(";")}
roots = {stack.split(";")[0] for stack in known}

total = inside = spinning = good = 0
found = dict.fromkeys(spent, 0)
with open(folded, encoding="utf-8") as f:
    for line in f:
        chain, count = line.rstrip("\n").rsplit(" ", 1)
        names = [name for name in chain.split(";") if name in functions]  # without those of C libraries
        n = int(count)
        total += n
        kinds = [kind for kind in spent if any(kind in name for name in names)]
        if not roots.intersection(names) or not ("main" in names or kinds):
            continue
        inside += n
        for kind in kinds:
            found[kind] += n
        if "spin" not in names:
            continue
        spinning += n
        first = min(names.index(root) for root in roots if root in names)
        stack = ";".join(names[first:names.index("spin") + 1])
        if stack in known:
            good += n
        else:
            print("no such stack:", stack, n)

bad = inside < 500
for kind, ms in spent.items():
    due = inside * ms / sum(spent.values())
    print(f"{kind}: {found[kind]} samples, {due:.0f} expected")
    bad = bad or (found[kind] - due) ** 2 > 25 * due + 0.0009 * inside ** 2 or due < 20
print(f"{inside} of {total} samples in the work, {good} of {spinning} with a stack that the language shows")
sys.exit(bad or inside < 0.8 * total or good < 0.99 * spinning)
