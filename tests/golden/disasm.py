#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""disasm.py DISASM_DUMP [FILE...]: disassembles files with lib/disasm and with objdump, and looks for
instructions that only objdump decodes. Default: the whole C library, and some pieces of a large
library and of a compiler (bench/disasm takes them whole). Prints TAP."""
import glob
import re
import shutil
import subprocess
import sys

LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
SAMPLED = ["/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib/gcc/x86_64-linux-gnu/*/cc1"]
PIECES, PIECE = 6, 0x8000
UNDECODED = ("(bad)", ".byte")


def instructions(command, pattern):
    """(address, text) of each instruction that the command prints."""
    line_of = re.compile(pattern)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stdout:
            m = line_of.match(line)
            if m:
                yield int(m[1], 16), m[2]
    if process.returncode:
        raise RuntimeError(f"{command[0]} exits {process.returncode}")


def by_address(stream, at):
    """The next instruction of the stream at or after the address."""
    for address, text in stream:
        if address >= at:
            return address, text
    return None, ""


def pieces(file):
    """(start, end) of pieces of the file's .text, the same distance apart."""
    headers = subprocess.run(["objdump", "-h", "-j", ".text", file], capture_output=True, text=True,
                             check=False).stdout
    m = re.search(r"\.text +([0-9a-f]+) +([0-9a-f]+)", headers)
    size, start = (int(number, 16) for number in m.groups()) if m else (0, 0)
    step = max(size // PIECES, PIECE)
    return [(start + at, min(start + at + PIECE, start + size)) for at in range(0, size, step)]


def compare(dump, file, limits=None):
    """Counts of objdump's instructions, of its and our undecoded ones, and of those that we miss."""
    range_of = [f"--start-address={limits[0]}", f"--stop-address={limits[1]}"] if limits else []
    theirs = instructions(["objdump", "-d", "--no-show-raw-insn", *range_of, file],
                          r" *([0-9a-f]+):\t(.*)")
    ours = instructions([dump, file, *(str(limit) for limit in limits or [])], r"([0-9a-f]+) (.*)")
    count = bad = our_bad = missed = 0
    example, current = "", (-1, "")
    for address, text in theirs:
        count += 1
        theirs_bad = any(word in text for word in UNDECODED)
        bad += theirs_bad
        if current[0] is not None and current[0] < address:
            current = by_address(ours, address)
        here = current[1] if current[0] == address else None
        our_bad += here is not None and any(word in here for word in UNDECODED)
        if not theirs_bad and (here is None or any(word in here for word in UNDECODED)):
            missed += 1
            example = example or f"{address:x}: {text} here {here}"
    for _ in ours:  # to the end, for its exit status
        pass
    return count, bad, our_bad, missed, example


def compare_pieces(dump, file):
    """As compare(), added up over pieces of the file."""
    found = [compare(dump, file, limits) for limits in pieces(file)]
    return [sum(one[i] for one in found) for i in range(4)] + ["".join(one[4] for one in found)]


def main():
    dump, files = sys.argv[1], sys.argv[2:]
    if not shutil.which("objdump"):
        print("1..0 # SKIP no objdump")
        return 0
    todo = [(file, compare) for file in files or [LIBC]]
    if not files:
        todo += [(([*glob.glob(name)] or [name])[0], compare_pieces) for name in SAMPLED]
    failed = 0
    for number, (file, how) in enumerate(todo, 1):
        try:
            open(file, "rb").close()
        except OSError as error:
            print(f"ok {number} - {file} # SKIP {error.strerror}")
            continue
        count, bad, our_bad, missed, example = how(dump, file)
        print(f"# {file}: {count} instructions, objdump leaves {bad} undecoded, we {our_bad}; "
              f"decoded by objdump alone: {missed} {example}")
        failed += missed > 0 or count == 0
        print(f"{'not ok' if missed or not count else 'ok'} {number} - {file}")
    print(f"1..{len(todo)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
