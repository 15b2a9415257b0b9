#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mkperfdata.py FILE < TEXT: writes a perf.data as perf record does, from a description. The lines
are ("#" starts a comment; numbers may be hexadecimal):

 pipe                       as perf record -o - writes it
 event NAME PERIOD [freq] [kernel-chains] [depth=N]    before all records; kernel-chains: of chains
                            that have no callers in user space, as with --call-graph=dwarf; depth:
                            where the kernel cuts them
 machine HOST RELEASE CPU CPUID    and the command line: "perf record ..."
 build-id PATH ID           in the table of the file
 at NS                      the time of the records from here on
 comm PID TID NAME [exec]
 fork PID PARENT TID PARENT-TID [synthesized]
 map PID START LENGTH OFFSET PATH [ID]    with the build-id ID in the record
 kernel START LENGTH OFFSET NAME          of the kernel or a module
 sample EVENT PID TID ADDRESS... EVENT counts from 0; the callers follow, innermost first; "k" and
                            "u" before an address say that it and the next ones are in the kernel or
                            in user space; ADDRESS*N repeats it
 lost COUNT, throttle       of the kernel
 record TYPE [WORD...]      any record; each word is 64 bits
 cut BYTES                  off the end of the file

An address in a file that is mapped may be PATH:SYMBOL+OFFSET. The records are written in the order of
the lines, whatever their time."""
import struct
import subprocess
import sys

CONTEXT = {"k": 2**64 - 128, "u": 2**64 - 512}
ATTR_SIZE = 128
MAX_STACK = 108  # the place of sample_max_stack
IP, TID, TIME, CALLCHAIN, ID, PERIOD = 1, 2, 4, 32, 64, 256


def padded(text):
    data = text.encode() + b"\0"
    return data + bytes(-len(data) % 8)


def header_string(text):
    data = padded(text)
    return struct.pack("<I", len(data)) + data


class Maker:
    def __init__(self):
        self.pipe = False
        self.cut = self.time = 0
        self.events, self.ids, self.records, self.features = [], [], [], {}
        self.maps = {}

    # --- records ---

    def add(self, kind, misc, payload, trailer=True):
        if trailer:  # sample_id: TID, TIME, ID
            payload += struct.pack("<IIQQ", 0, 0, self.time, self.ids[0])
        self.records.append(struct.pack("<IHH", kind, misc, 8 + len(payload)) + payload)

    def do_pipe(self):
        self.pipe = True

    def do_cut(self, count):
        self.cut = int(count, 0)

    def do_at(self, time):
        self.time = int(time, 0)

    def do_event(self, name, period, *flags):
        freq, kernel = "freq" in flags, "kernel-chains" in flags
        kinds = IP | TID | TIME | CALLCHAIN | ID | PERIOD
        bits = freq << 10 | 1 << 18 | kernel << 22  # freq, sample_id_all, exclude_callchain_user
        depth = next((int(f[6:]) for f in flags if f.startswith("depth=")), 0)
        attr = struct.pack("<IIQQQQQ", 1, ATTR_SIZE, 0, int(period, 0), kinds, 0, bits)
        attr += bytes(MAX_STACK - len(attr)) + struct.pack("<H", depth)
        self.events.append((name, attr + bytes(ATTR_SIZE - len(attr))))
        self.ids.append(100 + len(self.ids))

    def do_machine(self, host, release, cpu, cpu_id):
        self.features.update({3: header_string(host), 4: header_string(release),
                              7: struct.pack("<II", 8, 4), 8: header_string(cpu.replace("_", " ")),
                              9: header_string(cpu_id), 11: struct.pack("<I", 2) +
                              header_string("perf") + header_string("record")})

    def do_build_id(self, path, text):
        ident = bytes.fromhex(text)
        payload = struct.pack("<i", -1) + ident + bytes(20 - len(ident)) + bytes([len(ident)]) + \
            bytes(3) + padded(path)
        self.features[2] = self.features.get(2, b"") + \
            struct.pack("<IHH", 67, 0x8000, 8 + len(payload)) + payload

    def do_comm(self, pid, tid, name, how=""):
        self.add(3, 1 << 13 if how == "exec" else 0,
                 struct.pack("<II", int(pid), int(tid)) + padded(name))

    def do_fork(self, pid, parent, tid, parent_tid, how=""):
        self.add(7, 1 << 13 if how == "synthesized" else 0,
                 struct.pack("<IIIIQ", int(pid), int(parent), int(tid), int(parent_tid), self.time))

    def do_map(self, pid, start, length, offset, path, ident=None):
        start, offset = int(start, 0), int(offset, 0)
        self.maps[path] = start - offset
        which = struct.pack("<IIQQ", 8, 1, sum(path.encode()), 1)
        if ident:
            raw = bytes.fromhex(ident)
            which = struct.pack("<BBH", len(raw), 0, 0) + raw + bytes(20 - len(raw))
        self.add(10, 2 | (1 << 14 if ident else 0),
                 struct.pack("<IIQQQ", int(pid), int(pid), start, int(length, 0), offset) + which +
                 struct.pack("<II", 5, 2) + padded(path))

    def do_kernel(self, start, length, offset, name):
        self.add(1, 1, struct.pack("<iIQQQ", -1, 0, int(start, 0), int(length, 0), int(offset, 0)) +
                 padded(name))

    def address(self, word):
        path, colon, symbol = word.partition(":")
        if not colon:
            return int(word, 0)
        name, _, plus = symbol.partition("+")
        for line in subprocess.run(["nm", path], capture_output=True, text=True,
                                   check=True).stdout.splitlines():
            if line.split()[2:] == [name]:
                return self.maps[path] + int(line.split()[0], 16) + int(plus or "0", 0)
        raise KeyError(word)

    def do_sample(self, event, pid, tid, *words):
        chain = []
        for word in words:
            word, _, times = word.partition("*")
            chain += [CONTEXT[word] if word in CONTEXT else self.address(word)] * int(times or 1)
        name, attr = self.events[int(event)]
        period = struct.unpack_from("<Q", attr, 16)[0]
        misc = 1 if words[0] == "k" else 2
        payload = struct.pack("<QIIQQQ", chain[1], int(pid), int(tid), self.time,
                              self.ids[int(event)], period)
        self.add(9, misc, payload + struct.pack(f"<Q{len(chain)}Q", len(chain), *chain), False)

    def do_lost(self, count):
        self.add(2, 0, struct.pack("<QQ", self.ids[0], int(count, 0)))

    def do_throttle(self):
        self.add(5, 0, struct.pack("<QQQ", self.time, self.ids[0], 0))

    def do_record(self, kind, *words):
        self.add(int(kind, 0), 0, b"".join(struct.pack("<Q", int(w, 0)) for w in words), False)

    # --- files ---

    def event_desc(self):
        data = struct.pack("<II", len(self.events), ATTR_SIZE)
        for (name, attr), ident in zip(self.events, self.ids):
            data += attr + struct.pack("<I", 1) + header_string(name) + struct.pack("<Q", ident)
        return data

    def as_pipe(self):
        out, records, self.records = struct.pack("<8sQ", b"PERFILE2", 16), self.records, []
        for (name, attr), ident in zip(self.events, self.ids):
            self.add(64, 0, attr + struct.pack("<Q", ident), False)
            self.add(78, 0, struct.pack("<QQ", 2, ident) + padded(name), False)
        for number, data in sorted(self.features.items()):
            if number == 2:
                self.records.append(data)
            else:
                self.add(80, 0, struct.pack("<Q", number) + data, False)
        return out + b"".join(self.records + records)

    def as_file(self):
        attrs = b""
        ids_at = 104
        attrs_at = ids_at + 8 * len(self.ids)
        for i, (_, attr) in enumerate(self.events):
            attrs += attr + struct.pack("<QQ", ids_at + 8 * i, 8)
        data_at = attrs_at + len(attrs)
        data = b"".join(self.records)
        self.features[12] = self.event_desc()
        bits = [sum(1 << (n % 64) for n in self.features if n // 64 == i) for i in range(4)]
        head = struct.pack("<8sQQQQQQQQ4Q", b"PERFILE2", 104, ATTR_SIZE + 16, attrs_at, len(attrs),
                           data_at, len(data), 0, 0, *bits)
        at = data_at + len(data) + 16 * len(self.features)
        table = sections = b""
        for _, section in sorted(self.features.items()):
            table += struct.pack("<QQ", at + len(sections), len(section))
            sections += section
        return head + struct.pack(f"<{len(self.ids)}Q", *self.ids) + attrs + data + table + sections


def main():
    maker = Maker()
    for line in sys.stdin:
        words = line.partition("#")[0].split()
        if words:
            getattr(maker, "do_" + words[0].replace("-", "_"))(*words[1:])
    data = maker.as_pipe() if maker.pipe else maker.as_file()
    with open(sys.argv[1], "wb") as f:
        f.write(data[:len(data) - maker.cut])


main()
