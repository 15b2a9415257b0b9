#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes fuzz/corpus/sfile: a small sample file of each kind, as man opsample.5 draws them."""
import os
import struct

SIZE = 128


def bucket(key):
    t = (key >> 32 ^ key) & 0xffffffff
    return (t ^ t >> 8) & (SIZE - 1)


def database(keys, order="<"):
    nodes, table = [bytes(16)], [0] * SIZE
    for i, key in enumerate(keys, 1):
        nodes.append(struct.pack(order + "QII", key, i, table[bucket(key)]))
        table[bucket(key)] = i
    return (struct.pack(order + "II24x", SIZE, len(nodes)) + b"".join(nodes) +
            bytes(16 * (SIZE - len(nodes))) + struct.pack(f"{order}{SIZE}I", *table))


def header(order="<", version=0x13, tail=""):
    return struct.pack(f"{order}4s6I4xdQI4x{tail}", b"DAE\n", version, 69, 0x76, 0, 100000, 0,
                       2596.1, 1700000000, 0)


KEYS = [0x112f, 0x1134, 0x10b00000e06, 0x11f90000010b, 0x112f + (128 << 32)]
FULL = [4 * i for i in range(127)]
FILES = {
    "flat": header(tail="16x") + database(KEYS),
    "empty": header(tail="16x") + database([]),
    "full": header(tail="16x") + database(FULL),
    "growing": header(tail="16x") + database(FULL) + bytes(1000),
    "version-0x12": header(version=0x12, tail="32x") + database(KEYS),
    "big-endian": header(">", tail="16x") + database(KEYS, ">"),
    "32-bit": header(tail="16x")[:64] + database(KEYS),
    "blank": bytes(2664),
}

for name, data in FILES.items():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sfile", name), "wb") as f:
        f.write(data)
