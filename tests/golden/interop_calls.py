# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares lists of callers and callees (opreport -c) with those of OProfile 1.x, for interop.py.

Compared are the functions in their order with counts and percentages, all arcs with their counts,
and in each block the percentages and the order. Deliberate differences, in addition to those of
interop.py ("it" is OProfile 1.x):

 TIES      Of callers or callees with equal counts it shows first whichever was sampled first; we
           use the order of the list of functions.
 FROMANON  It drops arcs whose caller is in anonymous memory; we show them.
 RETURN    It looks up the return address of a callee. If the call is the last instruction of a
           function, that address is in the next function, or in none. We look up the call."""
import re

from interop_rows import STRIPPED, is_outside, percent, split_names, unnamed

RULE = "-" * 79
RETURN = {"_dl_start_user": "_start"}


class Line:
    def __init__(self, text, archive):
        m = re.match(r"( *)(\d+) +([\d.e-]+) +(.*)", text)
        self.in_block, self.count, self.percent = m[1] == "  ", int(m[2]), m[3]
        names = m[4].removesuffix(" [self]")
        self.is_self = names != m[4]
        self.image, _, self.symbol = split_names(names, False)
        self.image = self.image.replace(archive, "")
        if unnamed(self.symbol) or self.image in STRIPPED:
            self.symbol = "-"
        self.symbol = RETURN.get(self.symbol, self.symbol)

    def key(self):
        return (self.image, self.symbol)

    def is_outside(self):
        return is_outside(self.symbol)


class Block:
    def __init__(self, text, archive):
        lines = [Line(line, archive) for line in text.splitlines()]
        at = next(i for i, line in enumerate(lines) if not line.in_block)
        self.callers, self.function, self.callees = lines[:at], lines[at], lines[at + 1:]

    def problems(self):
        """What is wrong in the block itself: sums, percentages, order."""
        name = self.function.symbol
        for rows in (self.callers, self.callees):
            total = sum(row.count for row in rows)
            for row in rows:
                if row.percent != percent(row.count, total):
                    yield f"{name}: {row.symbol} has {row.percent} of {total}"
        counts = [row.count for row in self.callers]
        if counts != sorted(counts):
            yield f"{name}: callers are not sorted"
        order = [(-row.count, row.is_self) for row in self.callees]
        if order != sorted(order):
            yield f"{name}: callees are not sorted, itself after its equals"
        own = [row for row in self.callees if row.is_self]
        if len(own) != 1 or own[0].count != self.function.count or \
           own[0].key() != self.function.key():
            yield f"{name}: its own row is not the function's"


def blocks(text, archive):
    parts = text.split(RULE + "\n")[1:-1]
    return [Block(part, archive) for part in parts]


def arcs(graph):
    """All arcs as callers show them, and as callees do: {(caller, callee): count}."""
    up, down = {}, {}
    for block in graph:
        for row in block.callers:
            key = (row.key(), block.function.key())
            up[key] = up.get(key, 0) + row.count
        for row in block.callees:
            if not row.is_self:
                key = (block.function.key(), row.key())
                down[key] = down.get(key, 0) + row.count
    return up, down


def functions(graph):
    """The functions in order but for renamed ones, those of an image without symbols together."""
    rows, sums = [], {}
    for block in graph:
        f = block.function
        if f.image in STRIPPED:
            sums[f.image] = sums.get(f.image, 0) + f.count
        elif f.symbol not in RETURN.values():
            rows.append((f.key(), f.count))
    return rows, sums


def compare(case, text, archive, whole):
    theirs, ours = blocks(case.out, archive), blocks(text, archive)
    if not theirs:
        case.say("the expectation has no blocks")
    for graph, whose in ((theirs, "their"), (ours, "our")):
        for block in graph:
            for problem in block.problems():
                case.say(f"{whose} {problem}")
    total = whole["classes"][0]["samples"]
    dropped = sum(b.function.count for b in ours if b.function.is_outside())
    for graph, of in ((theirs, total - dropped), (ours, total)):
        for b in graph:
            if b.function.percent != percent(b.function.count, of):
                case.say(f"{b.function.symbol}: {b.function.percent} of {of}")
    compare_arcs(case, theirs, ours)
    ours = [b for b in ours if not b.function.is_outside()]
    a, b = functions(theirs), functions(ours)
    for x, y in zip(a[0], b[0]):
        if x != y:
            case.say(f"{x} != {y}")
    if a[1] != b[1] or len(a[0]) != len(b[0]):
        case.say(f"{len(a[0])} functions != {len(b[0])}, {a[1]} != {b[1]}")


def compare_arcs(case, theirs, ours):
    (their_up, their_down), (our_up, our_down) = arcs(theirs), arcs(ours)
    if their_up != their_down or our_up != our_down:
        case.say("callers and callees have different arcs")
    for (caller, callee), count in our_up.items():
        if (caller, callee) in their_up or is_outside(caller[1]) or is_outside(callee[1]):
            continue
        if not caller[0].startswith("anon ("):  # FROMANON
            case.say(f"{caller} calls {callee} {count} times only in ours")
    for arc, count in their_up.items():
        if our_up.get(arc) != count:
            case.say(f"{arc}: {count} != {our_up.get(arc)}")
