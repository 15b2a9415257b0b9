#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""terminal.py COLUMNS COMMAND...: runs the command with a terminal of that width as its output, and
prints its output with escapes as \\e. Standard error is not the terminal, because progress depends on time."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading

END = b"\0end\0"


def main():
    columns, command = int(sys.argv[1]), sys.argv[2:]
    try:
        terminal, other = pty.openpty()
    except OSError as error:
        print(f"no pseudo terminal here: {error}", file=sys.stderr)
        return 77
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    output = bytearray()

    def read():
        while not output.endswith(END):
            output.extend(os.read(terminal, 65536))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=other, check=False).returncode
    # A terminal that its last user closes may drop what was not read yet: this side stays open, and
    # says itself where the end is.
    os.write(other, END)
    reader.join()
    text = bytes(output[:-len(END)]).decode("utf-8", "replace")
    sys.stdout.write(text.replace("\r\n", "\n").replace("\033", "\\e"))
    return status


if __name__ == "__main__":
    sys.exit(main())
