# SPDX-License-Identifier: GPL-2.0-or-later
"""as_0_9.py FILE NUMBER: makes a sample file one of version 0x12, taken on the CPU type with that number."""
import struct
import sys

path, number = sys.argv[1], int(sys.argv[2])
with open(path, "rb") as f:
    new = f.read()
old = new[:4] + struct.pack("<II", 0x12, number) + new[12:56]
old += b"\xff" * 8 + new[56:72] + bytes(8) + new[72:]
with open(path, "wb") as f:
    f.write(old)
