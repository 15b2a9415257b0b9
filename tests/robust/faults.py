#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""faults.py BUILD [--long] [--memory] [--only=SCENARIO,...]: makes each system call site of the tools fail
once.

A scenario is a command on a session. It runs once to list its system calls (inject.c), then once for
each call site and error: ENOSPC and EIO for writes, EIO for reads, EMFILE for new descriptors, ENOMEM for
memory. It also runs once for each place that allocates, in a library, too (nomem.c), and again with all
later allocations failing; there our own code may report that it is out of memory and end. Whatever fails, the
program must not crash or hang. It must do all of its work, or say on standard error what it could not
do, or exit with an error and the reason. Prints TAP.

With --memory no system call fails, only allocations do. Without --long only some sites of each scenario
are tried. The choice depends only on the site, so it is the same on every machine and day. With --long
all are tried in a random order, as long as the scenario has CPU time. Needs root, because the session is
one of this machine."""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import robust

TIMEOUT = 300 # what takes so long on a busy machine hangs
REPEATS = 3      # runs a site with --long: its first call, the last, one in between

WRITING = ("ENOSPC", "EIO")
READING = ("EIO",)
OPENING = ("EMFILE", "EIO", "ENOSPC", "ENOMEM")
MAKING = ("EMFILE", "ENOMEM")
ERRORS = {
    "open": OPENING, "openat": OPENING,
    "read": READING, "pread64": READING, "preadv": READING, "getdents64": READING,
    "write": WRITING, "pwrite64": WRITING, "writev": WRITING, "pwritev": WRITING,
    "ftruncate": WRITING, "fallocate": WRITING, "copy_file_range": WRITING, "sendfile": WRITING,
    "rename": WRITING, "renameat2": WRITING, "mkdir": WRITING, "link": WRITING,
    "symlink": WRITING, "unlink": READING,
    "fsync": WRITING, "fdatasync": WRITING, "msync": WRITING,
    "mmap": ("ENOMEM",), "mremap": ("ENOMEM",), "fstat": READING, "newfstatat": READING,
    "perf_event_open": ("EMFILE", "ENOMEM", "ENOSPC"), "bpf": ("ENOMEM", "EMFILE"),
    "clone": ("ENOMEM",), "clone3": ("ENOMEM",),
}
STARVED = 3      # runs a scenario without --long of which an allocation fails
NUMBERS = {"ENOSPC": 28, "EIO": 5, "EMFILE": 24, "ENOMEM": 12}
TEXTS = ("No space left", "Input/output error", "Too many open files", "annot allocate memory",
         "out of memory")
# A message that a person can act upon says what was at hand: a file, or what was wanted of the kernel.
NAMES_SOMETHING = re.compile(r"/|cannot \w+ \w+|does not \w+|out of memory|allocate memory|kallsyms|"
                             r"list of CPUs|standard output")

# libpfm4 crashes where it cannot read this although we could, just before.
UNREADABLE = "/proc/mounts"

Call = collections.namedtuple("Call", "number name place path")
Result = collections.namedtuple("Result", "status out err")


class Scenario:
    """A command line, with what it may write: DIR is the run's own directory, BASE the session; and what
    it reads from its standard input."""

    def __init__(self, name, command, judge=None, only_memory=False, text=""):
        self.name, self.command, self.only_memory, self.text = name, command, only_memory, text
        self.judge = judge or (lambda bench, run, result, want: None)


class Bench:
    def __init__(self, build, long, only_memory, count):
        """@count scenarios share the CPU time of a long form."""
        self.build, self.long, self.count = pathlib.Path(build).resolve(), long, count
        self.tap = robust.Tap()
        self.chance = robust.seeded(self.tap) if long else None
        self.only_memory = only_memory
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="opfault."))
        self.env = dict(os.environ, LC_ALL="C", HOME=str(self.dir),
                        OPROFILE_SYMBOL_CACHE="no", DEBUGINFOD_URLS="",
                        OPROFILE_DAEMONRC=str(self.dir / "daemonrc"))
        self.inject = self.build / "tests/robust/inject"
        self.nomem = self.build / "tests/robust/nomem.so"
        self.runs = 0

    # --- running ---

    def tool(self, name):
        place = {"oprofiled": "daemon", "parse": "tests/robust", "history_load": "tests/robust"}.get(name, "tools")
        return str(self.build / place / name)

    def command(self, words, run):
        names = {"DIR": str(run), "BASE": str(self.dir / "base"),
                 "PACKED": str(self.dir / "packed"), "PROGRAMS": str(self.dir / "programs"),
                 "LIVE": str(self.build / "tests/live")}
        words = [re.sub(r"\b(DIR|BASE|LIVE|PACKED|PROGRAMS)\b", lambda m: names[m[0]], w) for w in words]
        return [self.tool(words[0])] + words[1:]

    def execute(self, scenario, run, prefix, **env):
        # One CPU, one thread: the calls come in the same order each time.
        try:
            done = subprocess.run(["taskset", "-c", "0", *prefix, *self.command(scenario.command, run)],
                                  env=dict(self.env, **env), cwd=run, input=scenario.text.encode(),
                                  capture_output=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired as gone:
            return Result("hang", gone.stdout or b"", gone.stderr or b"")
        return Result(done.returncode, done.stdout.replace(str(run).encode(), b"DIR"),
                      done.stderr.replace(str(run).encode(), b"DIR"))

    def fresh(self, scenario, label):
        run = self.dir / f"{scenario.name}.{label}"
        run.mkdir()
        return run

    def injected(self, scenario, label, *options):
        run = self.fresh(scenario, label)
        return run, self.execute(scenario, run, (str(self.inject), *options))

    def calls(self, scenario):
        listing = self.dir / f"{scenario.name}.calls"
        run, want = self.injected(scenario, "listing", "-l", str(listing))
        lines = [line.split("\t") for line in listing.read_text(errors="replace").splitlines()]
        calls, opened, mounts = [], "", 0
        for number, *rest in lines:
            call = Call(int(number), *rest)
            if call.name == "openat":
                opened = call.path
                mounts += opened == UNREADABLE
            if call.place != "0" and not (call.name == "read" and opened == UNREADABLE and
                                          mounts > 1):
                calls.append(call)
        return run, want, calls

    def choose(self, calls):
        sites = collections.defaultdict(list)
        for call in calls:
            if call.name in ERRORS or call.path.startswith("fd"):
                sites[call.name, call.place].append(call)
        chosen = []
        for site, at in sites.items():
            some = {at[0], at[-1], at[len(at) // 2]} if self.long else {at[0]}
            for call in sorted(some)[:REPEATS]:
                chosen += [(call, error) for error in ERRORS.get(call.name, MAKING)]
        if not self.long:
            # The same in every run, whatever was sampled: the first call of each name.
            first = {}
            for call, error in chosen:
                first.setdefault(call.name, (call, error))
            chosen = list(first.values())
        return len(sites), chosen

    # --- judging ---

    def wrong(self, scenario, run, result, want):
        """What is wrong with a run, or None."""
        text = result.err.decode(errors="replace")
        said = result.err != want.err
        if result.status == "hang":
            return "hangs"
        if result.status >= 125 or result.status < 0:
            return f"ends with {result.status}"
        if result.status != want.status and result.status and not text.strip():
            return f"exits with {result.status} and says nothing"
        if result.status != want.status and result.status and not NAMES_SOMETHING.search(text):
            return "does not say what failed"
        if result.status == want.status and not said and result.out != want.out:
            return "prints something else and does not say why"
        return scenario.judge(self, run, result, want)

    def one(self, scenario, call, error, want):
        run, result = self.injected(scenario, f"{call.name}.{call.number}.{error}", "-c",
                                    call.name, "-n", str(call.number), "-e",
                                    str(NUMBERS[error]))
        wrong = self.wrong(scenario, run, result, want)
        if not wrong or "KEEP" not in os.environ:
            shutil.rmtree(run, ignore_errors=True)
        if wrong:
            return (f"{call.name} at {call.place} (call {call.number}, {call.path}) fails with "
                    f"{error}: {wrong} [{result.status}: "
                    f"{result.err.decode(errors='replace').strip()[-300:]}]")
        return None

    # --- memory ---

    def starved(self, scenario, label, **env):
        run = self.fresh(scenario, label)
        return run, self.execute(scenario, run, ("setarch", "-R"),
                                 LD_PRELOAD=str(self.nomem), **env)

    def places(self, scenario):
        """Which allocations are to fail: a place, and which of its calls."""
        listing = self.dir / f"{scenario.name}.places"
        run, want = self.starved(scenario, "counting", OP_NOMEM_LIST=str(listing))
        shutil.rmtree(run)
        places = [line.split() for line in listing.read_text().splitlines()]
        chosen = []
        for address, count in places:
            # More of those that very many come through, which are ours.
            tries = min(int(count), 2 + int(count).bit_length() // 2)
            at = [1 + i * (int(count) - 1) // max(tries - 1, 1) for i in range(tries)]
            chosen += [(address, f"{n}{more}") for n in at for more in ("", "+")]
        if not self.long:
            chosen = [chosen[i * len(chosen) // STARVED] for i in range(STARVED)]
        return len(places), chosen

    def starve(self, scenario, address, number, want):
        run, result = self.starved(scenario, f"nomem.{address}.{number}",
                                   OP_NOMEM=f"{address}:{number}")
        # EX_OSERR is what we end with; the dynamic linker ends programs in its own way.
        if result.status in (os.EX_OSERR, 127) and \
                re.search(b"out of memory|cannot allocate memory", result.err):
            result = Result(1, result.out, result.err)
        wrong = self.wrong(scenario, run, result, want)
        if not wrong or "KEEP" not in os.environ:
            shutil.rmtree(run, ignore_errors=True)
        return wrong and (f"allocation {number} at {address}: {wrong} [{result.status}: "
                          f"{result.err.decode(errors='replace').strip()[-300:]}]")

    def try_all(self, chosen, fail, name, where):
        """Calls @fail with each of the failures, several at a time; what is wrong after any is the result."""
        if self.chance:
            self.chance.shuffle(chosen)
        rounds = robust.Rounds(self.tap, chosen, len(chosen), share=1 / (2 * self.count))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            waiting, bad = set(), []
            for one in rounds:
                waiting.add(pool.submit(fail, *one))
                if len(waiting) >= 2 * os.cpu_count():
                    done, waiting = concurrent.futures.wait(
                        waiting, return_when=concurrent.futures.FIRST_COMPLETED)
                    bad += [f.result() for f in done if f.result()]
            bad += [f.result() for f in waiting if f.result()]
        self.runs += rounds.done
        self.tap.result(not bad, f"{name}: {rounds.done} {where}", *bad)

    def run_scenario(self, scenario):
        run, want, calls = self.calls(scenario)
        self.reference = run
        if want.status:
            self.tap.result(False, f"{scenario.name} works undisturbed", want.err.decode())
            return
        sites, chosen = self.choose(calls)
        if scenario.only_memory or self.only_memory:
            chosen = []
        self.try_all(chosen, lambda call, error: self.one(scenario, call, error, want), scenario.name,
                     f"failures at {sites} call sites")
        if self.nomem.exists():
            self.run_starved(scenario, want)

    def run_starved(self, scenario, want):
        places, chosen = self.places(scenario)
        self.try_all(chosen, lambda place, number: self.starve(scenario, place, number, want),
                     scenario.name, f"allocations fail at {places} places")


# --- sessions ---

def samples(bench, session):
    """Samples in the files of a session, and those that its counters know to be lost."""
    listed = subprocess.run([bench.tool("opcheck"), "-V", "--json", str(session)], env=bench.env,
                            capture_output=True, text=True)
    try:
        files = json.loads(listed.stdout)["files"]
    except (ValueError, KeyError):
        return None, None, listed.stderr + listed.stdout
    lost = session / "samples/current/stats/lost_samplefile"
    held = sum(f.get("samples", 0) for f in files
               if "/{cg}/" not in f["path"] and "/{" in f["path"])
    return held, int(lost.read_text()) if lost.exists() else 0, listed.returncode


UNSAVED = 3 # the status of a replay that lost samples


def judge_recording(bench, run, result, want):
    """All samples are in the files or counted as lost, or the program has said that it failed."""
    session = run / "session"
    if not (session / "samples/current").exists():
        return None if result.status else "no session was made"
    held, lost, status = samples(bench, session)
    if status != 0:
        # What a writer left in the middle of something, the next one or --repair finishes.
        subprocess.run([bench.tool("opcheck"), "--repair", "-q", str(session)], env=bench.env)
        held, lost, status = samples(bench, session)
        if status != 0 or (session / "samples/current/damaged").exists():
            return f"leaves damage ({status})"
    if result.status in (0, UNSAVED) and held + lost != bench.base_samples + bench.base_lost:
        return (f"{held} samples in files and {lost} lost, "
                f"of {bench.base_samples} and {bench.base_lost}")
    if result.status == 0 and lost > bench.base_lost:
        return f"{lost} samples lost, and the status is 0"
    return None


def same_tree(name):
    def judge(bench, run, result, want):
        if result.status or result.err != want.err:
            return None
        differ = subprocess.run(["diff", "-rq", run / name, bench.reference / name],
                                capture_output=True, text=True)
        if differ.returncode == 0:
            return None
        return "writes something else and does not say why: " + differ.stdout[:300]
    return judge


UPKEEP = "hour\nhour\ntend\nhour\ntend\nsums\n"
AN_HOUR = 600 # samples


def judge_upkeep(bench, run, result, want):
    """The samples of all hours are in both histories; those of an hour that was not written may be."""
    written = max((int(line) for line in result.out.splitlines() if line.isdigit()), default=0)
    if not (run / "history").exists():
        return None if result.status else "no history was made"
    sums = subprocess.run(bench.command(["history_load", "DIR/history"], run), input="sums\n",
                          env=bench.env, capture_output=True, text=True)
    if sums.returncode:
        return f"cannot be read afterwards: {sums.stderr}"
    more = AN_HOUR if result.status else 0
    less = AN_HOUR if b" damaged " in result.err else 0 # the disk cannot read it, and that is said
    if not all(written - less <= int(n) <= written + more for n in sums.stdout.split()):
        return f"{written} samples were written, afterwards there are {sums.stdout}"
    return None


REPLAY = ["oprofiled", "--replay=BASE.stream", "--session-dir=DIR/session",
          "--separate=library,kernel", "--no-vmlinux", "--image=LIVE/truth_*"]
SCENARIOS = [
    Scenario("replay", REPLAY, judge=judge_recording),
    Scenario("opreport", ["opreport", "--session-dir=BASE", "-l"]),
    Scenario("opreport-callgraph", ["opreport", "--session-dir=BASE", "--callgraph",
                                    "--threshold=1"]),
    Scenario("opreport-chains", ["opreport", "--session-dir=BASE", "--folded"]),
    Scenario("opreport-xml", ["opreport", "--session-dir=BASE", "--xml"]),
    Scenario("opannotate", ["opannotate", "--session-dir=BASE", "--source", "--output-dir=src",
                            "image:*truth_images"], judge=same_tree("src")),
    Scenario("opannotate-assembly", ["opannotate", "--session-dir=BASE", "--assembly",
                                     "image:*truth_images"]),
    Scenario("opgprof", ["opgprof", "--session-dir=BASE", "-o", "gmon", "image:*truth_images"],
             judge=same_tree("gmon")),
    Scenario("oparchive", ["oparchive", "--session-dir=BASE", "-o", "DIR/archive",
                           "image:*truth_*"], judge=same_tree("archive")),
    Scenario("oparchive-compact", ["oparchive", "--session-dir=BASE", "--compact", "-o",
                                   "DIR/archive", "image:*truth_*"], judge=same_tree("archive")),
    Scenario("opimport", ["opimport", "--force", "-o", "DIR/imported", "BASE"],
             judge=same_tree("imported")),
    Scenario("upkeep", ["history_load", "DIR/history"], judge=judge_upkeep,
             text=UPKEEP),
    Scenario("opcheck", ["opcheck", "-V", "BASE"]),
    Scenario("packed", ["opreport", "--session-dir=PACKED", "-l", "-g"]),
    Scenario("packed-source", ["opannotate", "--session-dir=PACKED", "--source"]),
    Scenario("packed-archive", ["oparchive", "--session-dir=PACKED", "--compact", "-o", "DIR/archive"],
             judge=same_tree("archive")),
    Scenario("parser", ["parse", "PROGRAMS/plain", "PROGRAMS/zlib", "PROGRAMS/gnu", "PROGRAMS/lzma",
                        "PROGRAMS/code"],
             only_memory=True),  # it prints the name of the error of a call among its answers
]


def samples_already(log, daemon):
    """Waits until the daemon samples, or has ended; on a busy machine, its start takes seconds."""
    while daemon.poll() is None and not (log.exists() and "started: " in log.read_text()):
        time.sleep(0.1)


def record(bench):
    """The session that the scenarios work on, and the stream it came of."""
    live = bench.build / "tests/live"
    base, stream = bench.dir / "base", bench.dir / "base.stream"
    daemon = subprocess.Popen(
        [bench.tool("oprofiled"), "--foreground", "--as-root", "--start", "--events=TIMER:997",
         "--callgraph=3", "--no-vmlinux", f"--session-dir={bench.dir / 'first'}", f"--tee={stream}",
         "--separate=library,kernel"], env=bench.env,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    samples_already(bench.dir / "first/samples/oprofiled.log", daemon)
    for words in (["truth_images", "1"], ["truth_storm", "10"]):
        subprocess.run([live / words[0], *words[1:]], stdout=subprocess.DEVNULL)
    daemon.send_signal(signal.SIGTERM)
    said = daemon.communicate()[1].decode()
    if daemon.returncode:
        return said.strip() or f"oprofiled exits with {daemon.returncode}"
    # Again, so that what the daemon knew besides the stream is not in it. The stream has samples of all
    # programs, whose files may vanish at any time: only those of ours are kept.
    subprocess.run(bench.command([w.replace("DIR/session", str(base)) for w in REPLAY], bench.dir),
                   env=bench.env, capture_output=True)
    bench.base_samples, bench.base_lost, _ = samples(bench, base)
    return None if bench.base_samples else "no samples came"


# How sections with debug information are compressed, by name of program.
PACKED = {"zlib": ["--compress-debug-sections=zlib"], "gnu": ["--compress-debug-sections=zlib-gnu"],
          "plain": []}


def pack(bench):
    """A session of programs with debug information that libraries unpack."""
    live, at = bench.build / "tests/live/truth_images", bench.dir / "programs"
    at.mkdir()
    for name, options in PACKED.items():
        subprocess.run(["objcopy", *options, live, at / name], check=True)
    # Symbols as distributions keep them (.gnu_debugdata).
    subprocess.run(["objcopy", "--strip-debug", live, at / "symbols"], check=True)
    subprocess.run(["xz", at / "symbols"], check=True)
    subprocess.run(["objcopy", "--strip-all", "--add-section", f".gnu_debugdata={at / 'symbols.xz'}",
                    live, at / "lzma"], check=True)
    (at / "code").write_text("".join(f"{i * 16:x} 10 f{i}\n" for i in range(1, 300)))
    text = "cpu 4\n"
    for name in [*PACKED, "lzma"]:
        text += (f"symbols {at / 'plain'}\nfile {at / name} {at / name} TIMER.0.0.all.all.all\n"
                 "    main 7 main+8 9\n")
    subprocess.run([bench.build / "tests/golden/mksession", bench.dir / "packed"], input=text, text=True,
                   check=True)


def main():
    options = [a for a in sys.argv[1:] if a.startswith("--")]
    build, = [a for a in sys.argv[1:] if not a.startswith("--")]
    only = [o[7:].split(",") for o in options if o.startswith("--only=")]
    scenarios = [s for s in SCENARIOS if not only or s.name in only[0]]
    bench = Bench(build, "--long" in options, "--memory" in options, len(scenarios))
    robust.end_when_told()
    try:
        if os.geteuid() or not shutil.which("taskset") or not bench.inject.exists():
            print("1..0 # SKIP needs root, taskset and an x86-64 machine")
            return 0
        why = record(bench)
        pack(bench)
        if why:
            print("1..0 # SKIP", why.replace("\n", "; "))
            return 0
        bench.tap.note(f"{bench.base_samples} samples")
        for scenario in scenarios:
            bench.run_scenario(scenario)
        bench.tap.note(f"{bench.runs} runs")
        return bench.tap.done()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if "KEEP" not in os.environ:
            shutil.rmtree(bench.dir, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
