#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""terminal.py COLUMNS COMMAND...: runs the command with a terminal of that width as its output and
prints what it wrote there, an escape as \\e. Standard error is none: progress depends on time."""
import fcntl
import os
import pty
import struct
import sys
import termios


def main():
    columns, command = int(sys.argv[1]), sys.argv[2:]
    errors = os.dup(2)
    try:
        pid, terminal = pty.fork()
    except OSError as error:
        print(f"no pseudo terminal here: {error}", file=sys.stderr)
        return 77
    if pid == 0:
        os.dup2(errors, 2)
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execvp(command[0], command)
    output = b""
    while True:
        try:
            block = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
        if not block:
            break
        output += block
    sys.stdout.write(output.decode("utf-8", "replace").replace("\r\n", "\n").replace("\033", "\\e"))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
