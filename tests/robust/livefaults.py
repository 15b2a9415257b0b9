#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""livefaults.py BUILD [--long] [--only=daemon|operf] [--limit=N]: while oprofiled and operf sample, makes
each of their system call sites fail once, and lets memory run out at each place that allocates.

Whatever fails, the program must not crash or hang. It must continue with counts that add up, or exit
with an error and the reason, or report that it is out of memory and end. Everything recorded before
must still be there. When it gives up is not checked, because the order of events varies from run to
run.

Without --long a few failures are tried; with it all in a random order, as long as there is CPU time; with
--limit=N that many, evenly spread. Prints TAP."""
import collections
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import faults
import robust

PATIENCE = 300  # seconds, for a program that takes one
# Exit codes where the command could not be run.
COMMAND_FAILED = 126, 127
# Without --long the first call of each of these fails: they are made in the same order each time.
SHORT_KINDS = ("bpf", "ftruncate", "perf_event_open")


class Bench:
    def __init__(self, box, tap):
        self.box, self.tap = box, tap
        self.inject = box.build / "tests/robust/inject"
        self.base = box.dir / "base"
        self.runs = 0

    def fresh(self):
        """A session with something in it, and how many samples that is."""
        shutil.rmtree(self.box.session, ignore_errors=True)
        shutil.copytree(self.base, self.box.session, symlinks=True)

    def start(self, words, options):
        process = subprocess.Popen([self.inject, *options, *words], env=self.box.env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=open(self.box.dir / "stderr", "w"))
        self.box.children.append(process)
        return process

    def finish(self, process):
        """Its exit status; None where it hangs."""
        try:
            return process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()  # what it traces goes with it
            process.wait()
            return None

    # --- the programs ---

    def operf(self, options):
        self.fresh()
        return self.finish(self.start(
            [self.box.tool("operf"), f"--session-dir={self.box.session}", "--append",
             "--events=TIMER:997", "--callgraph=8", self.box.build / "tests/live/truth_images",
             "0.3"], options))

    def daemon(self, options):
        self.fresh()
        process = self.start(
            [self.box.tool("oprofiled"), "--foreground", "--as-root", "--start", "--events=TIMER:997",
             "--callgraph=8", "--budget=none", f"--session-dir={self.box.session}"], options)
        control = [self.box.tool("opcontrol"), f"--session-dir={self.box.session}"]
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and process.poll() is None:
            status = subprocess.run([*control, "--status", "--json"], env=self.box.env, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            received = re.search(r'"samples_received": (\d+)', status)
            if received and int(received[1]) > 20 or '"trouble"' in status:
                break
            time.sleep(0.05)
        for command in "--dump", "--shutdown":
            if process.poll() is None:
                subprocess.run([*control, command], env=self.box.env, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, timeout=PATIENCE)
        return self.finish(process)

    # --- judging ---

    def wrong(self, status):
        """What is wrong after a run that ended with @status; None: nothing."""
        said = (self.box.dir / "stderr").read_text(errors="replace").strip()
        if status is None:
            return "hangs"
        if (status < 0 or status >= 125) and status not in COMMAND_FAILED:
            return f"ends with {status}: {said}"
        if status and not faults.NAMES_SOMETHING.search(said):
            return f"exits with {status} and does not say what failed: {said}"
        held, problems, checked = self.box.samples()
        if checked:
            # What a writer left in the middle of something, the next one or --repair finishes.
            self.box.run("opcheck", "--repair", "-q", self.box.session)
            held, problems, checked = self.box.samples()
        if checked or list(self.box.session.glob("samples/*/damaged")):
            return f"leaves damage: {problems}"
        if held < self.before:
            return f"{held} samples where {self.before} were before: {said}"
        if status:
            return None
        stats = self.box.stats()
        kept = stats.get("samples", 0) - stats.get("lost_samplefile", 0)
        if held != kept:
            return f"{held} samples in files, {kept} by its counters: {said}"
        if stats.get("sample_received", 0) != self.box.accounted():
            return f"counts do not add up: {stats}"
        return None

    def sites(self, program):
        listing = self.box.dir / "calls"
        status = program(["-l", listing])
        lines = [line.split("\t") for line in listing.read_text(errors="replace").splitlines()]
        sites = collections.Counter((name, place) for _, name, place, _ in lines if place != "0")
        return status, sites

    def choose(self, sites, long, limit):
        runs = []
        for (name, place), count in sites.items():
            for error in faults.ERRORS.get(name, faults.MAKING if name != "brk" else ()):
                where = ["-c", name, "-p", place, "-n", str(1 + count // 2), "-e",
                         str(faults.NUMBERS[error])]
                runs.append((f"{name} at {place}: {error}", where))
                if name == "mmap":
                    runs.append((f"{name} at {place} and all after it: {error}", [*where, "-f"]))
        if not long:
            runs = [next(r for r in runs if r[0].startswith(kind + " "))
                    for kind in SHORT_KINDS if any(r[0].startswith(kind + " ") for r in runs)]
        if limit and len(runs) > limit:
            runs = [runs[i * len(runs) // limit] for i in range(limit)]
        return runs

    def unwritten(self):
        """A counter that cannot be written at all: the daemon says so, whoever stopped it."""
        status = self.daemon(["-c", "openat", "-w", "stats/samples", "-n", "1", "-f", "-e",
                              str(faults.NUMBERS["EIO"])])
        said = (self.box.dir / "stderr").read_text(errors="replace")
        self.tap.result(status is not None and "stats/samples: Input/output error" in said,
                        "daemon: names a counter that it cannot write", status, said)

    def try_program(self, program, long, limit):
        name = program.__name__
        status, sites = self.sites(program)
        why = self.wrong(status)
        if not self.tap.result(status == 0 and not why, f"{name} works undisturbed", why or status):
            return
        bad = []
        runs = self.choose(sites, long, limit)
        if long and not limit:
            robust.seeded(self.tap).shuffle(runs)
        rounds = robust.Rounds(self.tap, runs, len(runs), self.box.children, share=1 / 2,
                               loads=self.box.loads)
        for label, options in rounds:
            why = self.wrong(program(options))
            if why:
                bad.append(f"{label}: {why}")
                self.tap.note(bad[-1])
        self.tap.result(not bad, f"{name}: {rounds.done} failures, at {len(sites)} call sites",
                        *bad)


def main():
    options = dict(a[2:].partition("=")[::2] for a in sys.argv[1:] if a.startswith("--"))
    build, = [a for a in sys.argv[1:] if not a.startswith("--")]
    tap, box = robust.begin(build)
    bench = Bench(box, tap)
    if not bench.inject.exists():
        robust.skip_all("an x86-64 machine only")
    # A part of a CPU is enough for samples, and leaves more of the CPU time to the rounds.
    box.busy("sh", "-c", "while :; do for i in $(seq 20000); do :; done; sleep 0.1; done")
    daemon = box.start("--events=TIMER:997", "--callgraph=8")
    if not daemon.await_samples(200) or not daemon.end():
        robust.skip_all("no samples come")
    shutil.copytree(box.session, bench.base, symlinks=True)
    bench.before = box.samples()[0]
    for program in bench.daemon, bench.operf:
        if options.get("only", program.__name__) == program.__name__:
            bench.try_program(program, "long" in options, int(options.get("limit", 0)))
    if options.get("only") != "operf":
        bench.unwritten()
    tap.done()


if __name__ == "__main__":
    main()
