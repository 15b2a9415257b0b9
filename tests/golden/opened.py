#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""opened.py PATH... -- COMMAND...: runs the command, and prints which of these files, or files in these
directories, any process opened during that time; prints nothing if none was."""
import ctypes
import os
import struct
import subprocess
import sys

IN_OPEN, IN_NONBLOCK = 0x20, os.O_NONBLOCK


def main():
    end = sys.argv.index("--")
    paths, command = sys.argv[1:end], sys.argv[end + 1:]
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(IN_NONBLOCK)
    names = {libc.inotify_add_watch(watch, os.fsencode(path), IN_OPEN): path for path in paths}
    if watch < 0 or -1 in names:
        print(f"no inotify here: {os.strerror(ctypes.get_errno())}", file=sys.stderr)
        return 77
    status = subprocess.run(command, check=False).returncode
    opened = set()
    try:
        while events := os.read(watch, 65536):
            while events:
                number, _, _, length = struct.unpack_from("iIII", events)
                name = events[16:16 + length].rstrip(b"\0").decode()
                opened.add(os.path.join(names.get(number, "?"), name) if name else names[number])
                events = events[16 + length:]
    except BlockingIOError:
        pass
    for path in sorted(opened):
        print(path)
    return status


if __name__ == "__main__":
    sys.exit(main())
