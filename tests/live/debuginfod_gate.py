#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""debuginfod_gate.py REQUESTS SERVER: an HTTP proxy on loopback for the debuginfod server at SERVER. It holds
all requests until REQUESTS of them are open at the same time; from then on it forwards everything.
If that does not happen within a minute, it answers 404. Without SERVER it never answers. It prints its
port, then one line per request: its path, and "open" once requests are forwarded. It ends when its
standard input ends."""
import http.server
import sys
import threading
import urllib.error
import urllib.request

PATIENCE_SECONDS = 60


class Gate(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, requests, server):
        super().__init__(("127.0.0.1", 0), Request)
        self.server = server
        self.barrier = threading.Barrier(requests, action=lambda: print("open", flush=True))
        self.is_open = threading.Event()

    def wait(self):
        """Whether the caller may go on."""
        if self.server is None:
            threading.Event().wait()
        if not self.is_open.is_set():
            try:
                self.barrier.wait(PATIENCE_SECONDS)
            except threading.BrokenBarrierError:
                return self.is_open.is_set()
            self.is_open.set()
        return True


class Request(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        # In one write, or lines of two threads run into each other.
        print(self.path + "\n", end="", flush=True)
        body = None
        if self.server.wait():
            try:
                with urllib.request.urlopen(self.server.server + self.path) as answer:
                    body = answer.read()
            except urllib.error.HTTPError:
                pass
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


def main():
    gate = Gate(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
    print(gate.server_address[1], flush=True)
    threading.Thread(target=gate.serve_forever, daemon=True).start()
    sys.stdin.read()


main()
