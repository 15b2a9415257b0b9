# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the daemon's stress tests: TAP, a session with its own daemon, work for it, and the contents
of its files.

    tap, box = begin(__file__)                 (skips without root or without sampling)
    daemon = box.start("--events=TIMER:997")
    tap.result(daemon.control("--dump").returncode == 0, "a dump")
    end(tap, box)
"""
import atexit
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CPU_MINUTES = 4  # of a long form, for its rounds


class Tap:
    def __init__(self):
        self.tests = self.failed = 0

    def result(self, good, name, *why):
        self.tests += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.tests} - {name}", flush=True)
        if not good:
            for line in "\n".join(str(w) for w in why).splitlines():
                print("#", line, flush=True)
        return good

    def note(self, *words):
        print("#", *words, flush=True)

    def skip(self, name, why):
        self.tests += 1
        print(f"ok {self.tests} - {name} # SKIP {why}", flush=True)

    def done(self):
        print(f"1..{self.tests}")
        sys.exit(1 if self.failed else 0)


def seeded(tap):
    """Chance, whose seed is printed; OP_SEED repeats a run."""
    seed = int(os.environ.get("OP_SEED", random.randrange(1 << 32)))
    tap.note("OP_SEED", seed)
    return random.Random(seed)


class Rounds:
    """The rounds of a test, as long as it has CPU time. A long form ends on any machine; its rounds differ
    each time, so repeating it covers more."""

    def __init__(self, tap, rounds, count, children=(), share=1, loads=()):
        """@children are processes that run meanwhile, @share is the part of the time. Those of @loads, which
        take all that is left of the CPUs, do not count."""
        self.tap, self.rounds, self.count, self.children, self.done = tap, rounds, count, children, 0
        self.loads = loads
        self.end = self.spent() + CPU_MINUTES * 60 * share

    def spent(self):
        """Seconds of CPU time of all processes that the test has started."""
        times = os.times()
        spent = times.children_user + times.children_system
        for child in self.children:
            if child in self.loads:
                continue
            try:
                stat = pathlib.Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue  # ended, and counted already
            spent += sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK")
        return spent

    def left(self):
        return self.spent() < self.end

    def __iter__(self):
        for each in self.rounds:
            if not self.left():
                self.tap.note(f"{self.done} of {self.count} rounds: the CPU time is over")
                break
            self.done += 1
            yield each
            if self.done % 50 == 0:
                self.tap.note(f"{self.done} of {self.count}")


def skip_all(why):
    print("1..0 # SKIP", " ".join(str(why).split()))
    sys.exit(0)


def end_when_told():
    """As meson ends a slow test: it leaves nothing over then either, however often it is signalled."""
    def end(*_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(128 + signal.SIGTERM)
    signal.signal(signal.SIGTERM, end)


class Daemon:
    """A running oprofiled; its session outlives it."""

    def __init__(self, box, options):
        self.box = box
        self.process = subprocess.Popen(
            [box.tool("oprofiled"), "--foreground", "--as-root", "--start", f"--session-dir={box.session}",
             *options], env=box.env, stdout=subprocess.DEVNULL,
            stderr=open(box.dir / "stderr", "w"))

    def pid(self):
        return self.process.pid

    def control(self, *options):
        return self.box.run("opcontrol", f"--session-dir={self.box.session}", *options)

    def status(self):
        answer = self.control("--status", "--json")
        try:
            status = json.loads(answer.stdout)
        except ValueError:
            return {}
        return status if "samples_received" in status else {}

    def counter(self, name):
        status = self.status()
        return status.get(name, status.get("counters", {}).get(name, 0 if status else -1))

    def await_samples(self, count, seconds=180):
        """Whether more than so many samples have been received before the time is over."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.process.poll() is None:
            if self.counter("samples_received") > count:
                return True
            time.sleep(0.02)
        return False

    def end(self):
        """Ends it in order; whether that went well."""
        return self.control("--shutdown").returncode == 0 and self.process.wait(180) == 0


class Box:
    """A directory, an environment, and the tools of a build."""

    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="oprobust."))
        self.session = self.dir / "session"
        self.env = dict(os.environ, LC_ALL="C", HOME=str(self.dir), OPROFILE_SYMBOL_CACHE="no",
                        DEBUGINFOD_URLS="", OPROFILE_DAEMONRC=str(self.dir / "daemonrc"))
        self.children, self.loads = [], []
        atexit.register(self.clean)
        end_when_told()

    def clean(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.wait()
        if "KEEP" not in os.environ:
            shutil.rmtree(self.dir, ignore_errors=True)

    def tool(self, name):
        return self.build / ("daemon" if name == "oprofiled" else "tools") / name

    def run(self, name, *options):
        return subprocess.run([self.tool(name), *options], env=self.env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def start(self, *options):
        daemon = Daemon(self, options)
        self.children.append(daemon.process)
        return daemon

    def busy(self, *words):
        """Something to sample, until the test ends."""
        child = subprocess.Popen(words or ["sh", "-c", "while :; do :; done"], env=self.env,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.children.append(child)
        self.loads.append(child)
        return child

    def storm(self):
        """Processes of milliseconds, one after the other."""
        return self.busy("sh", "-c", 'while :; do "$0" 200; done',
                         self.build / "tests/live/truth_storm")

    # --- what is in the files ---

    def samples(self):
        """Samples in the sample files, those of call graphs aside; what opcheck says; its status."""
        listed = subprocess.run([self.tool("opcheck"), "-V", "--json", self.session], env=self.env,
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            files = json.loads(listed.stdout)["files"]
        except (ValueError, KeyError):
            return 0, listed.stdout + listed.stderr, listed.returncode
        bad = [f"{f['path']}: {f['action']}: {f.get('problems', '')} {f.get('text', '')}"
               for f in files if f["action"] != "none"]
        return (sum(f.get("samples", 0) for f in files if "/{cg}/" not in f["path"]),
                "\n".join(bad) + listed.stderr, listed.returncode)

    def chains(self):
        """Samples in the store of call chains."""
        folded = subprocess.run([self.tool("opreport"), f"--session-dir={self.session}",
                                 "--folded"], env=self.env, text=True, capture_output=True)
        return sum(int(line.rsplit(" ", 1)[1]) for line in folded.stdout.splitlines())

    def stats(self):
        stats = self.session / "samples/current/stats"
        return {p.name: int(p.read_text()) for p in stats.rglob("*")
                if p.is_file() and not p.name.endswith(".tmp")}

    def accounted(self):
        """Samples of which it is known what became of them."""
        return sum(v for k, v in self.stats().items()
                   if k.startswith("sample_lost_no_") or k in ("total_samples", "sample_filtered"))


def begin(build):
    """The test's box; skips where it cannot run."""
    if os.geteuid():
        skip_all("needs root")
    box = Box(build)
    daemon = box.start("--events=TIMER:97")
    if not daemon.await_samples(-1):
        skip_all((box.dir / "stderr").read_text() or "no daemon")
    if not daemon.end():
        skip_all("the daemon does not end")
    shutil.rmtree(box.session)
    return Tap(), box
