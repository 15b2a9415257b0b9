#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""disasm.py DISASM_DUMP [FILE...]: disassembles files (the C library) by lib/image and by objdump
and looks for instructions that objdump decodes and we do not. Speaks TAP."""
import re
import shutil
import subprocess
import sys

LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
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
    """The next instruction of the stream at or behind the address."""
    for address, text in stream:
        if address >= at:
            return address, text
    return None, ""


def compare(dump, file):
    """Counts of objdump's instructions, of its and our undecoded ones, and of those that we miss."""
    theirs = instructions(["objdump", "-d", "--no-show-raw-insn", file], r" *([0-9a-f]+):\t(.*)")
    ours = instructions([dump, file], r"([0-9a-f]+) (.*)")
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


def main():
    dump, files = sys.argv[1], sys.argv[2:] or [LIBC]
    if not shutil.which("objdump"):
        print("1..0 # SKIP no objdump")
        return 0
    failed = 0
    for number, file in enumerate(files, 1):
        try:
            open(file, "rb").close()
        except OSError as error:
            print(f"ok {number} - {file} # SKIP {error.strerror}")
            continue
        count, bad, our_bad, missed, example = compare(dump, file)
        print(f"# {file}: {count} instructions, objdump leaves {bad} undecoded, we {our_bad}; "
              f"decoded by objdump alone: {missed} {example}")
        failed += missed > 0 or count == 0
        print(f"{'not ok' if missed or not count else 'ok'} {number} - {file}")
    print(f"1..{len(files)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
