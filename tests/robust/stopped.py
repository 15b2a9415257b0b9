#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""stopped.py BUILD [SECONDS]: stops the daemon for a while, as under a debugger or on a machine that hangs.
Buffers that are too small for that overflow: the losses are counted, sampling continues, and the counts
add up."""
import os
import signal
import sys
import time

import robust

HZ = 997


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def try_driver(tap, box, driver, seconds):
    worker = box.busy()
    # Buffers for less than a second of samples with their stacks.
    daemon = box.start(f"--driver={driver}", f"--events=TIMER:{HZ}", "--callgraph=8",
                       "--cpu-buffer-size=16384")
    if not daemon.await_samples(100):
        tap.skip(f"{driver}", "it does not run here: " + (box.dir / "stderr").read_text().strip())
        return
    daemon.control("--dump")
    before = daemon.status()
    worked = cpu_seconds(worker)
    os.kill(daemon.pid(), signal.SIGSTOP)
    time.sleep(seconds)
    worked = cpu_seconds(worker) - worked
    os.kill(daemon.pid(), signal.SIGCONT)
    tap.result(daemon.await_samples(before["samples_received"] + HZ // 2),
               f"{driver}: it goes on after {seconds} s")
    daemon.control("--dump")
    after = daemon.status()
    came = after["samples_received"] - before["samples_received"]
    lost = after["samples_lost"] - before["samples_lost"]
    tap.note(f"{driver}: {worked:.1f} s of work while it stood still: {came} samples, {lost} lost")
    if driver == "perf":
        tap.result(lost > 0, "perf: what the rings could not take is counted as lost")
    tap.result(came + lost >= worked * HZ * 0.5, f"{driver}: of each tick it is known what became",
               f"{came} received, {lost} lost in {worked} s of work at {HZ} Hz")
    worker.kill()
    tap.result(daemon.end(), f"{driver}: it ends")
    received = box.stats()["sample_received"]
    tap.result(received == box.accounted(), f"{driver}: what was received adds up",
               f"{received} received, {box.accounted()} accounted for")
    held, said, status = box.samples()
    stats = box.stats()
    tap.result(status == 0 and held == stats["samples"] - stats.get("lost_samplefile", 0),
               f"{driver}: and is in the files", f"{held} of {stats['samples']}; {said}")


def main():
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    tap, box = robust.begin(sys.argv[1])
    for driver in "perf", "bpf":
        try_driver(tap, box, driver, seconds)
    tap.done()


if __name__ == "__main__":
    main()
