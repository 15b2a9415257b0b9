# SPDX-License-Identifier: GPL-2.0-or-later
"""Callers in chains are callers: the instruction before each return address is a call, and a call whose
target is known is of the function that the callee is in. Kinds of steps that are as they should be:

 direct    the call's target is in the callee's function
 linked    a call through the linkage table, or a slot of it, of a symbol in the callee's function, or in the
           program's linkage table, which has its address for all if the program takes it
 ifunc     the same, of a symbol whose function is chosen at run time
 lazy      the dynamic linker looks the symbol up
 tail      the call's target, or a function that it jumps to, jumps to the callee's function, or ends with
           a system call before that function
 indirect  the target is in a register or in memory
 context   not a call: a function of makecontext() returns to the start of one of the C library
 given     with the driver perf, to a caller of _exit() or execve(): the child of vfork() gives the stack back
           to its parent before it is done, which the driver cannot know

Steps to a caller in code that its process generated are also "generated". What is not checked: "kernel"
frames, "interrupted" frames (next to the kernel or a signal's return), and "no code" (generated code that
its process did not write, or that calls a file; deleted files, and functions reached by a jump from a
library that is in no chain)."""
import os
import re
from collections import Counter

import stored
from elfcode import Code, Generated, instructions

CALL = re.compile(r"(?:(?:bnd|notrack|data16|addr32|rex\S*|ds|cs) +)*call +(.*)")
SYSTEM_CALL = re.compile(r"syscall|sysenter|int +\$0x80")
JUMP = re.compile(r"(?:(?:bnd|notrack|data16|ds|cs) +)*j[a-z]+(?:,p[nt])? +(.*)")
SLOT = re.compile(r"\*(-?)0x([0-9a-f]+)\(%rip\)")
DEPTH = 4
PLT_ENTRY = 16
RIGHT = ("direct", "linked", "ifunc", "lazy", "tail", "indirect", "context", "given", "no code",
         "interrupted")
GIVERS = ("_exit", "_Exit", "execve")


class Images:
    def __init__(self, top):
        self.top, self.found, self.paths, self.generated = top, {}, {}, {}
        manifest = os.path.join(top, "images")
        if os.path.exists(manifest):
            with open(manifest, encoding="utf-8", errors="surrogateescape") as file:
                for line in file:
                    words = [stored.unescape(word) for word in line.rstrip("\n").split("\t")]
                    self.paths[words[0]] = words[6] if len(words) > 6 else words[1]

    def code(self, image):
        if image not in self.found:
            path = self.paths.get(image.name, image.name)
            try:
                if image.kind == "anon" and image.tgid:
                    self.found[image] = self.code_of(image.tgid)
                elif image.name in ("[vdso]", "[vdso32]"):
                    self.found[image] = Code(os.path.join(self.top, image.name[1:-1]), image.name)
                else:
                    self.found[image] = Code(path, image.name)
            except (OSError, ValueError):
                self.found[image] = None
        return self.found[image]

    def code_of(self, tgid):
        """What a process generated, one for all of its regions."""
        if tgid not in self.generated:
            path = os.path.join(self.top, "jit", f"{tgid}.jo")
            self.generated[tgid] = Generated(path, f"code of process {tgid}")
        return self.generated[tgid]

    def address(self, image, offset):
        """The linked address of an offset in an image; None if it is in no code that is known."""
        code = self.code(image)
        if isinstance(code, Generated):
            address = image.start + offset
            return address if code.function(address) is not None else None
        return code.address(offset) if code else None


class Steps:
    """Pairs of callee and caller, each different one once, with their samples."""

    def __init__(self, images):
        self.images, self.kinds, self.pairs = images, Counter(), {}

    def add(self, chain):
        is_return = False  # the first frame is where the sample was taken
        for index, (image, offset) in enumerate(chain.frames):
            code = None if image.kernel else self.images.code(image)
            place = None if image.kernel else self.images.address(image, offset - is_return)
            if place is not None and is_return:
                place += 1
            if index:
                self.add_step(chain, index, code, place, is_return)
            is_return = not image.kernel and not (code and place is not None and
                                                   code.is_signal_return(place))

    def add_step(self, chain, index, code, place, is_return):
        callee_image, callee_offset = chain.frames[index - 1]
        if chain.frames[index][0].kernel:
            self.kinds["kernel"] += chain.count
        elif not is_return:
            self.kinds["interrupted"] += chain.count
        elif not code or place is None or not code.starts:
            self.kinds["no code"] += chain.count
        elif code.is_signal_return(place):
            self.kinds["interrupted"] += chain.count
        else:
            was_return = index > 1 and not self.was_interrupted(chain, index - 1)
            key = code, place, callee_image, callee_offset, was_return
            self.pairs[key] = self.pairs.get(key, 0) + chain.count

    def was_interrupted(self, chain, index):
        """Whether the frame's place is no return address."""
        image, offset = chain.frames[index - 1]
        if image.kernel:
            return True
        code = self.images.code(image)
        place = self.images.address(image, offset)
        return bool(place and code.is_signal_return(place))


class Judge:
    def __init__(self, images):
        self.images, self.insns, self.befores = images, {}, {}

    def load(self, functions):
        """Disassembles what is not known yet."""
        wanted = {(code, start, code.end(start)) for code, start in functions
                  if start is not None and (code, start) not in self.insns}
        if wanted:
            for key, insns in instructions(wanted).items():
                self.insns[key] = insns
                self.befores[key] = {after: text for text, after in insns.values()}
            for code, start, _ in wanted:
                self.insns.setdefault((code, start), {})

    def before(self, code, place):
        """Text of the instruction that ends at @place."""
        return self.befores.get((code, code.function(place - 1)), {}).get(place, "")

    def kind(self, code, place, callee, callee_place):
        """The kind of a step, or why it is wrong."""
        text = self.before(code, place)
        m = CALL.match(text)
        if not m:
            return "context" if code.is_context_start(place) else f"no call: {text!r}"
        target, slot = m[1].split()[0], SLOT.match(m[1])
        if slot:
            at = place + int(slot[2], 16) * (-1 if slot[1] else 1)
            if not isinstance(code.slots.get(at), str):
                return "indirect"  # a variable, or one that the program may have changed
            return self.linked(code, code.slots[at], callee, callee_place)
        if not target.startswith("0x"):
            return "indirect"
        target = int(target, 16)
        return self.from_target(code, target, callee, callee_place)

    def from_target(self, code, target, callee, callee_place):
        if callee is None or callee_place is None:
            return "no code"
        there = callee.function(callee_place)
        if isinstance(code, Generated) and code.function(target) is None:
            return "no code"  # where files were mapped is not recorded
        if callee is code and code.function(target) == there:
            return "direct"
        if code.in_plt(target):
            return self.linked(code, code.slot_of_plt(target), callee, callee_place)
        return self.jumps(code, target, callee, there)

    def linked(self, code, symbol, callee, callee_place):
        if callee is None or callee_place is None:
            return "no code"
        kind = self.linked_to(code, symbol, callee, callee_place)
        return "lazy" if "ld-linux" in callee.path and kind.startswith("linked to") else kind

    def linked_to(self, code, symbol, callee, callee_place):
        if symbol is None:
            return "linked to nothing known"
        if isinstance(symbol, int):
            return "ifunc" if callee is code else f"linked to {symbol:#x}"
        if callee.canonical.get(symbol) == callee_place - callee_place % PLT_ENTRY:
            return "linked"
        there = callee.function(callee_place)
        owners = [c for c in self.images.found.values() if c and symbol in c.symbols]
        if not owners:
            return "no code"  # of a library that no chain contains
        for owner in owners:
            for value, kind in owner.symbols[symbol]:
                if kind == "IFUNC" and owner is callee:
                    return "ifunc"
                if owner is callee and callee.function(value) == there:
                    return "linked"
        for owner in owners:
            for value, _ in owner.symbols[symbol]:
                kind = self.jumps(owner, value, callee, there)
                if kind == "tail":
                    return kind
        return f"linked to {symbol}"

    def jumps(self, code, target, callee, there, depth=DEPTH):
        """Whether the function at @target can jump to the one at @there."""
        seen, level = set(), {(code, code.function(target))}
        for _ in range(depth):
            seen |= level
            self.load(level)
            level = {step for at in level for step in self.leaves(*at)} - seen
            if (callee, there) in level or "anywhere" in level:
                return "tail"
            level = {step for step in level if step != "anywhere"}
            if not level:
                break
        return f"direct to {target:#x}"

    def leaves(self, code, start):
        """Functions that one jumps to, or that it goes on in after a system call."""
        for text, after in self.insns.get((code, start), {}).values():
            if SYSTEM_CALL.match(text) and code.function(after) not in (None, start):
                yield code, code.function(after)
            m = JUMP.match(text)
            if not m:
                continue
            if not m[1].startswith("0x"):
                yield "anywhere"
                continue
            target = int(m[1].split()[0], 16)
            if isinstance(code, Generated) and code.function(target) is None:
                yield "anywhere"
                continue
            if code.in_plt(target):
                yield from self.owners(code.slot_of_plt(target))
            if code.function(target) != start:
                yield code, code.function(target)

    def owners(self, symbol):
        if not isinstance(symbol, str):
            yield "anywhere"
            return
        for owner in self.images.found.values():
            for value, kind in owner.symbols.get(symbol, ()) if owner else ():
                yield "anywhere" if kind == "IFUNC" else (owner, owner.function(value))


def gives_back(code, place):
    return any(code.function(value) == code.function(place)
               for name in GIVERS for value, _ in code.symbols.get(name, ()))


def is_by_perf(top):
    setup = os.path.join(top, "setup")
    if not os.path.exists(setup):
        return False
    with open(setup, encoding="utf-8", errors="surrogateescape") as file:
        return any(line.startswith("driver: perf") for line in file)


def check_calls(profile, top, allowed=0):
    """At most @allowed samples in a million of steps may be wrong."""
    images = Images(top)
    steps = Steps(images)
    for chain in stored.chains(top):
        steps.add(chain)
    if any(code and code.machine != 62 for code in images.found.values()):
        return
    judge, by_perf = Judge(images), is_by_perf(top)
    judge.load({(code, code.function(place - 1)) for code, place, *_ in steps.pairs})
    wrong = Counter()
    for (code, place, image, offset, is_return), count in steps.pairs.items():
        callee = images.code(image) if not image.kernel else None
        at = images.address(image, offset - is_return) if callee else None
        kind = judge.kind(code, place, callee, at)
        if image.kernel:
            kind = "no call" if kind.startswith("no call") else "interrupted"
        if kind not in RIGHT and by_perf and callee and gives_back(callee, at):
            kind = "given"
        if kind in RIGHT:
            steps.kinds[kind] += count
            if isinstance(code, Generated) and kind != "no code":
                steps.kinds["generated"] += count
        else:
            where = hex(offset if at is None else at)
            wrong[f"{code.name} {place:#x} called {image.name} {where}: {kind}"] += count
    for kind, count in steps.kinds.items():
        profile.count("step " + kind, count)
    profile.count("step wrong", sum(wrong.values()))
    checked = sum(steps.pairs.values())
    if sum(wrong.values()) * 1000000 > allowed * checked:
        for text, count in wrong.most_common(20):
            profile.problem("calls", count, text)
