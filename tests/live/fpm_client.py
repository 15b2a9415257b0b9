# SPDX-License-Identifier: GPL-2.0-or-later
"""fpm_client.py SOCKET COUNT SCRIPT...: asks php-fpm COUNT times for each script (FastCGI), and
prints what the last one answered."""
import socket
import struct
import sys

BEGIN, PARAMS, STDIN, STDOUT = 1, 4, 5, 6


def record(kind, body):
    return struct.pack(">BBHHBB", 1, kind, 1, len(body), 0, 0) + body


def pair(name, value):
    name, value = name.encode(), value.encode()
    return struct.pack(">BI", len(name), len(value) | 1 << 31) + name + value


def ask(path, script):
    params = pair("SCRIPT_FILENAME", script) + pair("REQUEST_METHOD", "GET")
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(record(BEGIN, struct.pack(">HB5x", 1, 0)) + record(PARAMS, params) +
                  record(PARAMS, b"") + record(STDIN, b""))
        answer, text = b"", b""
        while chunk := s.recv(65536):
            answer += chunk
    while answer:
        kind, length, padding = struct.unpack(">xBxxHBx", answer[:8])
        text += answer[8:8 + length] if kind == STDOUT else b""
        answer = answer[8 + length + padding:]
    return text


for _ in range(int(sys.argv[2])):
    for page in sys.argv[3:]:
        last = ask(sys.argv[1], page)
print(last.decode().split("\r\n\r\n", 1)[1])
