#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""daemon.py SESSION ANSWERS COMMAND...: runs the command while something answers at SESSION/control in
the daemon's place: a request is answered with the file ANSWERS/WORD, named by its first word, and the
end marker; with ANSWERS/WORD.raw as it is, and the connection is closed; or refused if there is
neither. Prints what was asked last."""
import os
import socket
import subprocess
import sys
import threading


def answer_to(answers, request):
    path = os.path.join(answers, (request.split() or [""])[0])
    for name, end in ((path, b".\n"), (path + ".raw", b"")):
        if os.path.isfile(name):
            with open(name, "rb") as f:
                return f.read() + end
    return b"error: '" + request.encode() + b"' is not what this daemon does\n"


def serve(listener, answers, asked):
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        with client:
            request = client.makefile("r").readline().rstrip("\n")
            asked.append(request)
            try:
                client.sendall(answer_to(answers, request))
            except OSError:
                pass  # the client has seen enough


def main():
    session, answers, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    asked = []
    os.makedirs(session, exist_ok=True)
    path = os.path.join(session, "control")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen()
    thread = threading.Thread(target=serve, args=(listener, answers, asked), daemon=True)
    thread.start()
    status = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
    listener.shutdown(socket.SHUT_RDWR)
    thread.join()
    listener.close()
    os.unlink(path)
    print("asked:", "; ".join(asked) or "nothing", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
