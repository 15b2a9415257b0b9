# SPDX-License-Identifier: GPL-2.0-or-later
"""php_check.py SHARES STACKS FOLDED: compares what was profiled of truth_php.php with what it printed
of itself: the CPU time of each kind of work, and the stacks that debug_backtrace() shows."""
import sys

shares, stacks, folded = sys.argv[1:]
spent = {}
with open(shares, encoding="utf-8") as f:
    for line in f:
        kind, ms = line.split()
        spent[kind] = int(ms)
with open(stacks, encoding="utf-8") as f:
    known = set(f.read().split("\n"))

total = inside = spinning = good = 0
found = dict.fromkeys(spent, 0)
with open(folded, encoding="utf-8") as f:
    for line in f:
        chain, count = line.rstrip("\n").rsplit(" ", 1)
        names = chain.split(";")
        n = int(count)
        total += n
        if "{main}" not in names or "main" not in names:
            continue
        inside += n
        for kind in spent:
            found[kind] += n if kind in names else 0
        if "spin" not in names:
            continue
        spinning += n
        stack = ";".join(names[names.index("{main}"):names.index("spin") + 1])
        if stack in known:
            good += n
        else:
            print("no such stack:", stack, n)

bad = inside < 500
for kind, ms in spent.items():
    due = inside * ms / sum(spent.values())
    print(f"{kind}: {found[kind]} samples, {due:.0f} expected")
    bad = bad or (found[kind] - due) ** 2 > 25 * due + 0.0009 * inside ** 2 or due < 20
print(f"{inside} of {total} samples in main(), {good} of {spinning} with a stack of debug_backtrace()")
sys.exit(bad or inside < 0.8 * total or good < 0.99 * spinning)
