#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""historychurn.py BUILD [SECONDS [SPEED]]: a machine whose programs are new all the time, as are their cgroups,
and a daemon whose time of day passes SPEED times as fast (fast_clock.c): its hours, and with them its
generations and roll-ups, come every 3600 / SPEED seconds. Afterwards the sum of windows, one for each of
its hours, is the whole, for each event, and the whole is what the driver received less what it is known
to have lost."""
import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import robust

HOUR = 3600
OPTIONS = ["--events=TIMER:997,context-switches:10", "--callgraph=16",
           "--separate=library,kernel,cgroup"]
# Each program has a build-id of its own, and no file once it runs.
CHURN = """
n=0
while :; do
	n=$((n + 1))
	[ -z "$1" ] || mkdir "$1/$n"
	( [ -z "$1" ] || echo 0 >"$1/$n/cgroup.procs"; exec "$0" 5 20 file )
	[ -z "$1" ] || rmdir "$1/$n"
done
"""


def make_cgroup():
    """A directory for cgroups, or None where none can be made."""
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind = line.split()[:3]
        if kind == "cgroup2":
            top = pathlib.Path(where) / f"opchurn.{os.getpid()}"
            try:
                top.mkdir()
                return top
            except OSError:
                return None
    return None


def remove_cgroup(top):
    for path in [*top.iterdir(), top]:
        for _ in range(100):
            try:
                if path.is_dir():
                    path.rmdir()
                break
            except OSError:
                time.sleep(0.1)  # its processes are ending


class Reports:
    """What reports of the session say."""

    def __init__(self, box):
        self.box, self.why = box, ""

    def ask(self, *words):
        done = subprocess.run([self.box.tool("opreport"), f"--session-dir={self.box.session}", *words],
                              env=self.box.env, text=True, capture_output=True)
        self.why = done.stderr
        return done.stdout if done.returncode == 0 else ""

    def by_event(self, word):
        """The samples of each event, and the end of the time that is covered, in seconds."""
        text = self.ask("--json", word)
        if not text:
            return collections.Counter(), 0
        report = json.loads(text)
        end = datetime.datetime.fromisoformat(report["sessions"][0].get("time", {}).get(
            "end", "1970-01-01T00:00:00+00:00"))
        counts = collections.Counter()
        for c in report["classes"]:
            counts[c["event"]] += c["samples"]
        return counts, int(end.timestamp())

    def chains(self, word, events):
        """The samples of the call chains of each event."""
        return collections.Counter({event: sum(
            int(line.rsplit(" ", 1)[1])
            for line in self.ask("--folded", word, f"event:{event}").splitlines()) for event in events})


def windows(reports, begin, end):
    """Adds up a window for each hour: samples by event, those of call chains, and how many had any."""
    sums, chains, found, at = collections.Counter(), collections.Counter(), 0, begin
    while at <= end:
        until = (at // HOUR + 1) * HOUR
        counts, covered = reports.by_event(f"time:@{at}..@{until}")
        found += bool(counts)
        sums += counts
        chains += reports.chains(f"time:@{at}..@{until}", counts)
        # A slice that began in the hour is in its window. The next one begins minutes later.
        at = max(until, covered + 2)
    return sums, chains, found


def work(tap, box, seconds, speed):
    """The daemon at work; how long its clock said that was, as two times."""
    top, plain = make_cgroup(), box.env
    if not top:
        tap.note("without cgroups: none can be made")
    load = [box.busy("sh", "-c", CHURN, box.build / "tests/live/truth_gone", top or "") for _ in "12"]
    box.env = dict(plain, LD_PRELOAD=str(box.build / "tests/robust/fast_clock.so"),
                   OP_CLOCK_SPEED=str(speed))
    begin = time.time()
    daemon = box.start(*OPTIONS)
    box.env = plain
    started = daemon.await_samples(100)
    tap.result(started, "the daemon samples", (box.dir / "stderr").read_text())
    until = time.monotonic() + seconds
    while started and time.monotonic() < until and daemon.process.poll() is None:
        time.sleep(min(5, seconds))
    took = time.time() - begin
    for child in load:
        child.kill()
        child.wait()
    tap.result(daemon.end(), "it ends", (box.dir / "stderr").read_text())
    if top:
        remove_cgroup(top)
    return int(begin), int(begin + (took + 200) * speed)


def generations(box):
    """How many there were: the number of the last one."""
    names = [p.name for p in (box.session / "samples/current/history").iterdir()]
    return max((int(n) for name in names for n in re.findall(r"^(\d+)\.slices$|-(\d+)$", name)
                for n in n if n), default=0) + 1


def examine(tap, box, begin, end):
    reports = Reports(box)
    whole, _ = reports.by_event("session:current")
    tap.note(dict(whole), "samples;", reports.why.strip() or "no warnings")
    timed, _ = reports.by_event("time:..")
    tap.result(whole and timed == whole, "all times are the whole", timed, whole, reports.why)
    sums, chains, found = windows(reports, begin, end)
    tap.result(sums == whole, f"so are the windows of {found} hours", sums, whole, reports.why)
    all_chains = reports.chains("session:current", whole)
    tap.result(chains == all_chains, f"and their {sum(chains.values())} samples with call chains", chains,
               all_chains, reports.why)
    stats = box.stats()
    received, accounted = stats["sample_received"], box.accounted()
    tap.result(received == accounted, f"what became of {received} samples is known",
               accounted, {k: v for k, v in stats.items() if v})
    lost = stats.get("sample_lost_samplefile", 0)
    tap.result(sum(whole.values()) == stats["total_samples"] - lost,
               f"the whole is what was recorded, {lost} that had no file aside",
               sum(whole.values()), {k: v for k, v in stats.items() if v})
    _, said, status = box.samples()
    tap.result(status == 0, "the files are whole", said)
    log = (box.session / "samples/oprofiled.log").read_text()
    bad = [line for line in log.splitlines() if re.search("damaged|cannot|failed|missing|signal", line)]
    tap.result(not bad, "the log has no complaint", *bad[:20])


def main():
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    speed = int(sys.argv[3]) if len(sys.argv) > 3 else 240
    tap, box = robust.begin(sys.argv[1])
    begin, end = work(tap, box, seconds, speed)
    examine(tap, box, begin, end)
    # On a busy machine, an hour may be over before what the last one left is done.
    wanted = max(1, seconds * speed // HOUR // 4)
    tap.result(generations(box) >= wanted, f"there were {wanted} generations or more", generations(box))
    tap.done()


if __name__ == "__main__":
    main()
