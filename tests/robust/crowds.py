#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""crowds.py BUILD [PROCESSES [IMAGES]]: very many processes, so many that process ids wrap around, and very
many programs, each a file with its own build-id. The daemon's memory and descriptors stay within their
limits, the counts add up, and a report names each program separately."""
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

import robust

HZ = 997
RSS_KIB = 256 << 10
FDS = 16384
LAST_PID = pathlib.Path("/proc/sys/kernel/ns_last_pid")


def usage(daemon):
    proc = pathlib.Path(f"/proc/{daemon.pid()}")
    rss = next(int(line.split()[1]) for line in (proc / "status").read_text().splitlines()
               if line.startswith("VmHWM"))
    return rss, len(os.listdir(proc / "fd"))


def near_the_wrap():
    """The next processes get the last numbers there are, those after them the first ones."""
    highest = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
    try:
        LAST_PID.write_text(str(highest - 150))
    except OSError:
        return False
    return True


def programs(box, count):
    """Copies of one program that differ in their build-id."""
    whole = (box.build / "tests/live/truth_chains").read_bytes()
    at = whole.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
    place = box.dir / "programs"
    place.mkdir()
    for i in range(count):
        path = place / f"program{i}"
        path.write_bytes(whole[:at] + i.to_bytes(20, "big") + whole[at + 20:])
        path.chmod(0o755)
        yield path


def main():
    processes = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    images = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    tap, box = robust.begin(sys.argv[1])
    daemon = box.start(f"--events=TIMER:{HZ}", "--separate=library,kernel", "--callgraph=8")
    tap.result(daemon.await_samples(10), "it samples", (box.dir / "stderr").read_text())
    wraps = near_the_wrap()
    subprocess.run([box.build / "tests/live/truth_storm", str(processes)],
                   stdout=subprocess.DEVNULL, check=True)
    if wraps:
        tap.result(int(LAST_PID.read_text()) < int(pathlib.Path(
            "/proc/sys/kernel/pid_max").read_text()) - 150 or processes < 300,
            f"{processes} processes, whose numbers started again")
    else:
        tap.skip("process numbers start again", "ns_last_pid cannot be written")
    for path in programs(box, images):
        subprocess.run([path, "0.01", "25", "75"], stdout=subprocess.DEVNULL)
    tap.result(daemon.control("--dump").returncode == 0, f"{images} programs run")
    rss, fds = usage(daemon)
    tap.result(rss < RSS_KIB, "its memory is bounded", f"{rss} KiB")
    tap.result(fds < FDS, "its descriptors are bounded", f"{fds}")
    tap.result(daemon.end(), "it ends")
    received, accounted = box.stats()["sample_received"], box.accounted()
    tap.result(received == accounted, "every sample is accounted for", f"{received}, {accounted}")
    held, said, status = box.samples()
    stats = box.stats()
    tap.result(status == 0 and held == stats["samples"] - stats.get("lost_samplefile", 0),
               "and in the files", f"{held} of {stats['samples']}", said)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    report = box.run("opreport", f"--session-dir={box.session}")
    took = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    named = {w for w in report.stdout.split() if re.fullmatch(r"program[0-9]+", w)}
    # One that never ran when the clock ticked has no sample.
    sampled = {p.name for p in box.session.rglob("program*") if p.is_dir()}
    tap.result(named and named <= sampled and 2 * len(named) >= len(sampled), "programs have lines of their own",
               f"{len(named)} named, {len(sampled)} sampled")
    disk = subprocess.run(["du", "-sk", box.session], capture_output=True, text=True).stdout.split()[0]
    tap.note(f"{received} samples, {len(named)} programs named; daemon: {rss} KiB at most, {fds} "
             f"descriptors; session: {disk} KiB; report: {took:.1f} s, "
             f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.1f} s of CPU; "
             f"losses {json.dumps({k: v for k, v in stats.items() if 'lost' in k and v})}")
    tap.done()


if __name__ == "__main__":
    main()
