#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""separate.py BUILD: replays one stream of samples (oprofile-buffer(5)), which is made here, with each
--separate, and checks that reports have the stream's samples: by event, image and symbol, with each
--merge (all sets of them where most is separated), and that classes are those that were asked for. Prints
TAP."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from itertools import combinations

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../golden"))
import check
import choices
import forms
import run as golden_run
from reports import Profile

ESCAPE = (1 << 64) - 1
CTX_SWITCH, CPU_SWITCH, COOKIE_SWITCH, USER_ENTER, CTX_TGID, CTX_CGROUP, CTX_COMM = 1, 2, 3, 5, 7, 34, 39
EVENTS = [("TIMER", 0), ("OTHER", 7000)]
TASKS = [("exe-pie", 10, 10), ("exe-pie", 10, 11), ("exe-fixed", 20, 20), ("exe-pie", 30, 30)]
COMMS = {10: "main", 11: "worker", 20: "worker", 30: "main"}
CGROUPS = {10: "/a.slice", 20: "/b.slice/c", 30: "/b.slice/c"}
IMAGES = {"exe-pie": ("exe-pie", "lib.so", "demo.so"), "exe-fixed": ("exe-fixed", "lib.so")}
SEPARATE = ["thread", "cpu", "cgroup"]


def padded(text):
    data = text.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8)


def chunk(kind, data):
    return struct.pack("II", kind, len(data)) + data


def cookie(number, kind, path):
    size = mtime = 0
    if kind == 0:
        status = os.stat(path)
        size, mtime = status.st_size, int(status.st_mtime)
    return chunk(3, struct.pack("8QIIII32s", number, 1, number, 0, size, mtime, 0, 0, 0, kind, 1, 0, b"")
                 + padded(path))


class Stream:
    """The samples, and what they add up to: {(event, image): samples}."""

    def __init__(self, directory):
        self.directory, self.words, self.cookies, self.samples = directory, [], {}, []
        for number, (program, tgid, tid) in enumerate(TASKS):
            for cpu in (0, 1):
                self.task(program, tgid, tid, cpu, number)

    def number(self, kind, path):
        return self.cookies.setdefault((kind, path), len(self.cookies) + 1)

    def task(self, program, tgid, tid, cpu, number):
        app = os.path.join(self.directory, program)
        self.words += [ESCAPE, CPU_SWITCH, cpu, ESCAPE, USER_ENTER]
        self.words += [ESCAPE, CTX_SWITCH, tid, self.number(0, app), ESCAPE, CTX_TGID, tgid]
        self.words += [ESCAPE, CTX_CGROUP, self.number(4, CGROUPS[tgid])]
        self.words += [ESCAPE, CTX_COMM, self.number(3, COMMS[tid])]
        for index, image in enumerate(IMAGES[program]):
            path = os.path.join(self.directory, image)
            self.words += [ESCAPE, COOKIE_SWITCH, self.number(0, path)]
            for counter in range(len(EVENTS)):
                for step in range(3 + (number + cpu + index + counter) % 4):
                    self.words += [0x1020 + 0x21 * step, counter]
                    self.samples.append((EVENTS[counter][0], path, app, tgid, tid, cpu, CGROUPS[tgid],
                                         COMMS[tid]))

    def write(self, path):
        events = b"".join(struct.pack("3QIIII", count, 997 if not count else 0, 0, 0, 0, 1,
                                      7 if not count else 3) + padded(name) for name, count in EVENTS)
        with open(path, "wb") as file:
            file.write(b"OPSTREAM" + struct.pack("II", 0x01020304, 1) + chunk(1, events))
            file.write(chunk(2, padded("00000000-0000-0000-0000-000000000000")))
            for (kind, name), number in self.cookies.items():
                file.write(cookie(number, kind, name))
            file.write(chunk(4, struct.pack(f"{len(self.words)}Q", *self.words)))

    def sums(self, *columns):
        """{the columns of a sample: how many have them}"""
        found = {}
        for sample in self.samples:
            key = tuple(sample[column] for column in columns)
            found[key] = found.get(key, 0) + 1
        return found


def report_sums(report, of_row, of_class):
    found = {}
    for row in report["rows"]:
        for each, samples in zip(report["classes"], row["samples"]):
            key = (each["event"], *of_row(row), *of_class(each))
            found[key] = found.get(key, 0) + samples
    return {key: samples for key, samples in found.items() if samples}


def check_separation(profile, stream, words):
    """Exactly what was asked for is separated."""
    report = profile.json()
    profile.same_keys("images", report_sums(report, lambda row: (row["image"],), lambda each: ()),
                      stream.sums(0, 1))
    if "library" in words or "kernel" in words or "all" in words:
        profile.same_keys("applications", stream.sums(0, 1, 2), report_sums(
            report, lambda row: (row["image"], row["app"]), lambda each: ()))
    thread, cpu = "thread" in words or "all" in words, "cpu" in words or "all" in words
    for member, column, is_wanted in (("tgid", 3, thread), ("tid", 4, thread), ("cpu", 5, cpu),
                                      ("cgroup", 6, "cgroup" in words), ("comm", 7, "comm" in words)):
        kinds = {each.get(member, "all") for each in report["classes"]}
        if not is_wanted:
            profile.equal("not separated", kinds, {"all"}, member)
            continue
        profile.same_keys(member, stream.sums(0, column), report_sums(
            report, lambda row: (), lambda each, member=member: (each[member],)))
    rows = profile.rows("-l")
    profile.equal("symbols", sum(sum(row.samples) for row in rows), len(stream.samples))


def separations():
    yield from (["none"], ["library"], ["kernel"], ["all"], ["all", "cgroup"],
                ["comm"], ["library", "comm"], ["all", "cgroup", "comm"])
    for number in range(1, len(SEPARATE) + 1):
        for some in combinations(SEPARATE, number):
            yield list(some)
            yield ["library", *some]


def main():
    build = os.path.abspath(sys.argv[1])
    os.environ.update(golden_run.environment(build))
    work = tempfile.mkdtemp()
    stream = Stream(os.path.join(build, "tests/fixtures/elf-golden"))
    stream.write(os.path.join(work, "stream"))
    failed, whole = 0, None
    for number, words in enumerate(separations(), 1):
        name = ",".join(words)
        profile = Profile(os.path.join(build, "tools"), work, [f"--session-dir={number}"], name)
        done = subprocess.run([os.path.join(build, "daemon/oprofiled"), "--replay=stream", "--no-vmlinux",
                               f"--session-dir={number}", f"--separate={name}", "--config=/dev/null"],
                              cwd=work, capture_output=True, text=True, check=False)
        if done.returncode:
            profile.problem("replay", done.stdout, done.stderr)
        else:
            check_separation(profile, stream, words)
            choices.check_merges(profile, merges=None if len(words) > 3 else check.FEW_MERGES)
            forms.check_stored(profile, os.path.join(work, f"{number}/samples/current"))
            symbols = report_sums(profile.json("-l"), lambda row: (row["image"], row.get("symbol")),
                                  lambda each: ())
            whole = whole or symbols
            profile.same_keys("symbols", symbols, whole)
        failed += bool(profile.problems)
        print(f"{'not ok' if profile.problems else 'ok'} {number} - {name}", flush=True)
        for problem in profile.problems[:20]:
            print("#", problem[:600])
    shutil.rmtree(work)
    print(f"1..{number}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
