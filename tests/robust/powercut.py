#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""powercut.py BUILD [CUTS [SECONDS]]: simulates power failures while the daemon works. The session is on a
separate file system, whose disk (blocklog.c) logs its writes. Afterwards the power is cut at many of
them: of the pages written since the last flush, a random choice is kept. Then the file system is
checked and mounted, as at boot. The checker may only find damage that it can repair without loss,
and every sample must be there that was there when the session was last dumped and synced. So must every
counter and every small file, whole. The file system does not write a file before its new name, as ext4
does for programs that forget to."""
import atexit
import ctypes
import json
import os
import shutil
import struct
import subprocess
import sys
import time

import robust

RECORD = struct.Struct("=QII")
WRITE, FLUSH, MARK = range(3)
PAGE = 4096
SIZE = 96 << 20
CLONE_NEWNS = 0x20000
PATIENCE = 300  # seconds, for a disk to end
OPTIONS = ["--events=TIMER:997", "--callgraph=16", "--separate=library,kernel"]


def run(*words):
    return subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)


def own_mounts():
    """No other process gets a copy of what is mounted from now on, which would hold a disk."""
    if ctypes.CDLL(None).unshare(CLONE_NEWNS) == 0:
        run("mount", "--make-rprivate", "/")


def unmount(path):
    """Processes of a killed daemon, and the loop device, may use what is there for a while."""
    until = time.monotonic() + PATIENCE
    while os.path.ismount(path) and time.monotonic() < until:
        if run("umount", path).returncode:
            time.sleep(0.1)


class Disk:
    """An image with a file system, mounted through the log."""

    def __init__(self, box):
        self.box, self.loop = box, None
        self.image, self.log = box.dir / "image", box.dir / "log"
        self.under, self.mount = box.dir / "under", box.dir / "mnt"
        self.under.mkdir()
        self.mount.mkdir()

    def begin(self):
        """Whether it is there; else why not."""
        with open(self.image, "wb") as f:
            f.truncate(SIZE)
        own_mounts()
        made = run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", self.image)
        if made.returncode:
            return made.stdout
        shutil.copy(self.image, self.box.dir / "before")
        self.server = self.box.busy(self.box.build / "tests/robust/blocklog", self.image, self.log,
                                    self.under)
        for _ in range(200):
            if (self.under / "disk").exists():
                break
            time.sleep(0.05)
        else:
            return "FUSE cannot be used"
        atexit.register(self.end)
        found = run("losetup", "-f", "--show", self.under / "disk")
        if found.returncode:
            return found.stdout
        self.loop = found.stdout.strip()
        mounted = run("mount", "-t", "ext4", "-o", "noauto_da_alloc", self.loop, self.mount)
        return mounted.stdout if mounted.returncode else None

    def mark(self, text):
        fd = os.open(self.under / "mark", os.O_WRONLY)
        os.write(fd, text.encode())
        os.close(fd)

    def end(self):
        atexit.unregister(self.end)
        unmount(self.mount)
        if self.loop:
            run("losetup", "-d", self.loop)
        unmount(self.under)
        self.server.wait(PATIENCE)


def small_files(box):
    """The files of a session that are written whole; the first of their bytes must stay."""
    return [p for p in (box.session / "samples/current" / name for name in
                        ("setup", "kallsyms", "kallsyms.zst", "vdso", "images")) if p.exists()]


def set_up(daemon, box, disk, n):
    """Writes the settings, with a number that differs each time and a last line that does not."""
    box.env["OPROFILE_DAEMONRC"] = str(disk.mount / "daemonrc")
    done = daemon.control("--setup", f"--buffer-size={65536 + n}", "--verbose=all")
    return done.stdout if done.returncode else None


def work(tap, box, disk, seconds):
    """The daemon at work; what it had dumped and synced, as marks in the log."""
    box.session = disk.mount / "session"
    storm = box.storm()
    daemon = box.start(*OPTIONS)
    daemon.await_samples(100)
    until, n, refused = time.monotonic() + seconds, 0, None
    while time.monotonic() < until and daemon.process.poll() is None:
        time.sleep(0.3)
        n += 1
        refused = refused or set_up(daemon, box, disk, n)
        if daemon.control("--dump").returncode:
            continue
        stats = box.stats()
        # Before the sync: the daemon adds lines at any time.
        files = {p.name: p.stat().st_size for p in small_files(box)}
        run("sync", "-f", disk.mount)
        chains = sum(v for k, v in stats.items() if k.startswith("chain_"))
        disk.mark(json.dumps({
            "samples": stats["samples"] - stats.get("lost_samplefile", 0),
            "chains": chains - stats.get("chains_lost", 0), "stats": stats,
            "settings": len((disk.mount / "daemonrc").read_text().splitlines()),
            "files": files}))
    tap.result(not refused, "settings were written", refused)
    time.sleep(0.5)
    tap.result(daemon.process.poll() is None, "the daemon works",
               (box.dir / "stderr").read_text())
    # The cuts that follow need no load, which would count as CPU time of their rounds.
    for process in storm, daemon.process:
        process.kill()
        process.wait()


def read_log(path):
    data = path.read_bytes()
    records, at = [], 0
    while at < len(data):
        offset, length, kind = RECORD.unpack_from(data, at)
        at += RECORD.size
        records.append((kind, offset, data[at:at + length]))
        at += length
    return records


def cut(chance, durable, recent):
    """The disk after a cut: of what came since the last flush, some pages."""
    image = bytearray(durable)
    share = chance.random()
    for _, offset, data in recent:
        for at in range(0, len(data), PAGE):
            if chance.random() < share:
                part = data[at:at + PAGE]
                image[offset + at:offset + at + len(part)] = part
    return image


def lost_small(box, mount, marks):
    """What of the counters and the small files is not as it was when last synced, or newer; or None."""
    stats = box.session / "samples/current/stats"
    for name, value in marks["stats"].items():
        text = (stats / name).read_text() if (stats / name).exists() else "no file"
        if not text.strip().isdigit() or int(text) < value:
            return f"counter {name} is {text!r}, was {value}"
    settings = (mount / "daemonrc").read_text().splitlines()
    if len(settings) < marks["settings"]:
        return f"daemonrc has {len(settings)} lines, had {marks['settings']}"
    sizes = {p.name: p.stat().st_size for p in small_files(box)}
    small = [f"{name} has {sizes.get(name)} bytes, had {size}"
             for name, size in marks["files"].items() if sizes.get(name, 0) < size]
    return "; ".join(small) or None


def examine(box, mount, marks, with_chains, goes_on):
    """What is wrong after a cut, or None; and whether something had to be repaired."""
    box.session = mount / "session"
    lost = lost_small(box, mount, marks)
    if lost:
        return lost, True
    # Who samples on before anybody repairs must not make it worse.
    if goes_on:
        daemon = box.start(*OPTIONS)
        if not daemon.await_samples(20) or not daemon.end():
            return "the daemon cannot go on: " + (box.dir / "stderr").read_text(), True
    repaired = run(box.tool("opcheck"), "--repair", box.session)
    held, said, status = box.samples()
    # A slice that was being written may lack a page in its middle; reports skip it.
    left = [line for line in said.splitlines() if "which reports skip" not in line]
    if max(repaired.returncode, status) > 1 or left:
        return f"not whole: {repaired.stdout} {said}", True
    if held < marks["samples"]:
        return f"{held} samples, {marks['samples']} were synced; {repaired.stdout}", True
    if with_chains:
        in_store = box.chains()
        if in_store < marks["chains"]:
            return f"{in_store} chains, {marks['chains']} were synced; {repaired.stdout}", True
    return None, "damaged" in repaired.stdout


class Cuts:
    """The power is cut at some of the writes that the disk's log has after its first mark."""

    def __init__(self, box, disk, chance, cuts):
        self.box, self.chance, self.records = box, chance, read_log(disk.log)
        first = next(i for i, r in enumerate(self.records) if r[0] == MARK)
        self.points = sorted(chance.sample(range(first + 1, len(self.records)),
                                           min(cuts, len(self.records) - first - 1)))
        self.done = len(self.points)

    def states(self):
        """After each cut: where it was, the disk, what was marked, and how many writes were not flushed."""
        durable, recent, marks = bytearray((self.box.dir / "before").read_bytes()), [], None
        at = 0
        for point in self.points:
            for kind, offset, data in self.records[at:point]:
                if kind == WRITE:
                    recent.append((kind, offset, data))
                elif kind == MARK:
                    marks = json.loads(data)
                else:
                    for _, o, d in recent:
                        durable[o:o + len(d)] = d
                    recent = []
            at = point
            yield point, cut(self.chance, durable, recent), marks, len(recent)

    def each(self, tap, examine):
        """Calls @examine with the mounted file system after each cut, the marks and the number of the
        cut; returns what it found wrong."""
        wrong, mount = [], self.box.dir / "after"
        mount.mkdir()
        rounds = robust.Rounds(tap, enumerate(self.states()), len(self.points), self.box.children)
        for n, (point, disk, marks, unflushed) in rounds:
            # A file for each: the loop device of the last one may still be there, with its cache.
            image = self.box.dir / f"cut.{n}"
            image.write_bytes(disk)
            # As at boot: the journal is played, and what the file system lost of itself is repaired.
            run("e2fsck", "-fy", image)
            done = run("mount", "-t", "ext4", "-o", "loop", image, mount)
            image.unlink()
            if done.returncode:
                wrong.append(f"cut {point}: {done.stdout}")
                continue
            text = examine(mount, marks, n)
            unmount(mount)
            if text:
                wrong.append(f"cut at write {point} of {len(self.records)}, {unflushed} not flushed: "
                             f"{text[:600]}")
        self.done = rounds.done
        return wrong


def main():
    cuts = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    tap, box = robust.begin(sys.argv[1])
    if not (box.build / "tests/robust/blocklog").exists() or not shutil.which("mkfs.ext4"):
        robust.skip_all("needs FUSE and mkfs.ext4")
    chance = robust.seeded(tap)
    disk = Disk(box)
    why = disk.begin()
    if why:
        robust.skip_all(why)
    work(tap, box, disk, seconds)
    disk.end()
    all_cuts, repairs = Cuts(box, disk, chance, cuts), []

    def look(mount, marks, n):
        text, was_repaired = examine(box, mount, marks, n % 8 == 0, n % 4 == 1)
        repairs.append(was_repaired)
        return text

    wrong = all_cuts.each(tap, look)
    tap.note(f"{len(all_cuts.records)} writes and flushes; after {sum(repairs)} of {all_cuts.done} cuts "
             "there was something to repair")
    tap.result(not wrong, f"{all_cuts.done} power cuts lose nothing that was synced", *wrong[:10],
               f"{len(wrong)} in all")
    tap.done()


if __name__ == "__main__":
    main()
