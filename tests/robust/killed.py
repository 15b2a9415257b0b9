#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""killed.py BUILD [TIMES]: kills the daemon at random moments under load, and starts it again on the same
session. Each time all files must be undamaged, and no sample may be missing that was in them at the last
dump."""
import os
import signal
import sys
import time

import robust

OPTIONS = ["--events=TIMER:997", "--callgraph=16", "--separate=library,kernel"]
LONGEST_S = 0.4


def main():
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    tap, box = robust.begin(sys.argv[1])
    chance = robust.seeded(tap)
    box.storm()
    box.busy()
    kept = chains = dumps = 0
    damaged, fewer, failed = [], [], []
    rounds = robust.Rounds(tap, range(times), times, box.children, loads=box.loads)
    for i in rounds:
        daemon = box.start(*OPTIONS, f"--driver={'perf' if i % 3 == 2 else 'auto'}")
        if not daemon.await_samples(chance.randrange(200)):
            failed.append((box.dir / "stderr").read_text())
            continue
        if chance.random() < 0.6 and daemon.control("--dump").returncode == 0:
            stats = box.stats()
            kept = stats["samples"] - stats.get("lost_samplefile", 0)
            chains = sum(v for k, v in stats.items() if k.startswith("chain_"))
            chains -= stats.get("chains_lost", 0)
            dumps += 1
        time.sleep(chance.random() * LONGEST_S)
        os.kill(daemon.pid(), signal.SIGKILL)
        daemon.process.wait()
        held, said, status = box.samples()
        if status:
            damaged.append(f"kill {i}: {status}: {said}")
        if held < kept:
            fewer.append(f"kill {i}: {held} samples, {kept} at the last dump")
    tap.result(not failed, "it starts again each time", *failed)
    tap.result(not damaged, f"{rounds.done} kills leave no damage", *damaged)
    tap.result(not fewer, f"and no sample fewer than at {dumps} dumps", *fewer)
    daemon = box.start(*OPTIONS)
    tap.result(daemon.await_samples(50) and daemon.end(), "it goes on as ever")
    held, said, status = box.samples()
    tap.result(status == 0, "all files are whole at the end", said)
    in_store = box.chains()
    tap.result(in_store >= chains > 0, "the chains that were dumped are there",
               f"{in_store} of {chains}")
    tap.note(f"{held} samples, {in_store} chains")
    tap.done()


if __name__ == "__main__":
    main()
