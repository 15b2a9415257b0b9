#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""historycut.py BUILD [CUTS]: simulates power failures while a history is rolled up, as powercut.py does for
the daemon's files: blocks that were not flushed may be lost, in any order. Whatever was written when an
hour was synced must be there afterwards, and nothing twice: in the flat history, in the slices of call
chains, and in all chains."""
import shutil
import subprocess
import sys

import powercut
import robust

HOURS = 30


class Load:
    """history_load at work on a session."""

    def __init__(self, box, session):
        session.mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen([box.build / "tests/robust/history_load", session], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        box.children.append(self.process)

    def ask(self, word):
        """The numbers of its answer; none if it failed."""
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return [int(n) for n in self.process.stdout.readline().split()]

    def end(self):
        """What it complained about."""
        _, text = self.process.communicate()
        return text


def work(tap, box, disk):
    """Writes hours and rolls them up; what was synced is marked. Returns the samples of an hour."""
    load, samples = Load(box, disk.mount / "session"), []
    for _ in range(HOURS):
        samples = load.ask("hour")
        if not samples:
            break
        subprocess.run(["sync", "-f", disk.mount], check=True)
        disk.mark(f'{{"samples": {samples[0]}}}')
        load.ask("upkeep")
    said = load.end()
    tap.result(bool(samples) and not said, f"{HOURS} hours are written and rolled up", said)
    return samples[0] // HOURS if samples else 0


def examine(box, mount, synced, an_hour):
    """What is wrong after a cut, or None."""
    load = Load(box, mount / "session")
    sums = load.ask("sums")
    said = load.end()
    if said or len(sums) != 3:
        return f"cannot be read: {said}"
    if any(not synced <= n <= synced + an_hour for n in sums):
        return f"flat, slices of chains and chains have {sums} samples, {synced} were synced"
    return None


def main():
    tap, box = robust.begin(sys.argv[1])
    if not (box.build / "tests/robust/blocklog").exists() or not shutil.which("mkfs.ext4"):
        robust.skip_all("needs FUSE and mkfs.ext4")
    chance = robust.seeded(tap)
    disk = powercut.Disk(box)
    why = disk.begin()
    if why:
        robust.skip_all(why)
    an_hour = work(tap, box, disk)
    disk.end()
    cuts = powercut.Cuts(box, disk, chance, int(sys.argv[2]) if len(sys.argv) > 2 else 40)
    wrong = cuts.each(tap, lambda mount, marks, n: examine(box, mount, marks["samples"], an_hour))
    tap.result(not wrong, f"{cuts.done} power cuts lose nothing that was synced", *wrong[:10],
               f"{len(wrong)} in all")
    tap.done()


if __name__ == "__main__":
    main()
