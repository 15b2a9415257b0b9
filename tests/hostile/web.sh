#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Another user of the machine against opweb: requests of any kind without its secret, names of other
# hosts, requests that are very long or never end, more connections than it serves at a time. Whoever
# has the secret gets the page all along, or when those that block it have had their time.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"
[ -x "$OP_BUILD_ROOT/tools/opweb" ] || skip_all "built without libmicrohttpd"
command -v python3 >/dev/null || skip_all "needs python3"
service=
cleanup()
{
	[ -z "$service" ] || kill "$service" 2>/dev/null
	wait
}

printf 'cpu 4\nfile /usr/bin/app /usr/bin/app TIMER.0.0.all.all.all\n    0x1000 60\n' |
	"$OP_BUILD_ROOT/tests/golden/mksession" "$dir/session"
opweb --session-dir="$dir/session" --no-browser >"$dir/log" 2>&1 &
service=$!
wait_for grep -q 'http://' "$dir/log"
url=$(sed -n 's|.*\(http://[^ ]*/\).*|\1|p' "$dir/log" | head -n 1)

cat >"$dir/attack.py" <<'END'
import os, re, socket, sys, time

host, port, secret = re.match(r"http://([^:/]+):(\d+)(/s/[^/]+/)", sys.argv[1]).groups()
port, pid = int(port), int(sys.argv[2])


def connect():
    s = socket.create_connection((host, port), timeout=90)
    return s


def ask(request):
    """The status of the answer; 0: none."""
    s = connect()
    answer = b""
    try:
        s.sendall(request)
        while b"\r\n" not in answer:
            piece = s.recv(4096)
            if not piece:
                break
            answer += piece
    except OSError:
        pass
    s.close()
    status = re.match(rb"HTTP/1\.[01] (\d+)", answer)
    return int(status[1]) if status else 0


def get(path, at=None, more=b""):
    at = f"{host}:{port}" if at is None else at
    return ask(b"GET %s HTTP/1.1\r\nHost: %s\r\nAccept-Encoding: gzip\r\n%s"
               b"Connection: close\r\n\r\n" % (path.encode(), at.encode(), more))


def memory():
    pids, total = [str(pid)], 0
    while pids:
        p = pids.pop()
        try:
            pids += open(f"/proc/{p}/task/{p}/children").read().split()
            total += int(open(f"/proc/{p}/statm").read().split()[1]) * 4096
        except OSError:
            pass
    return total


def result(good, name, *why):
    print("good" if good else "bad", name, *why, flush=True)


def served(name):
    result(get(secret) == 200, name)


served("who has the secret gets the page")
before = memory()
for path in ("/", "/s/", "//", "/../etc/passwd", secret[:-2] + "/", secret[:-2] + "0/",
             secret.upper(), secret + "../../etc/passwd", secret + "%2e%2e/%2e%2e/etc/passwd"):
    if path != secret:
        result(get(path) in (400, 403, 404), f"no page at {path.replace(secret, '/SECRET/')}")
for at in ("example.com", f"example.com:{port}", f"{host}.example.com:{port}", ""):
    result(get(secret, at) in (400, 403, 404, 421), f"no page for the host '{at}'")
for method in (b"POST", b"PUT", b"DELETE", b"OPTIONS", b"TRACE", b"XYZ"):
    result(ask(b"%s %s HTTP/1.1\r\nHost: %s:%d\r\nContent-Length: 4\r\nConnection: close\r\n\r\n"
               b"abcd" % (method, secret.encode(), host.encode(), port)) != 200,
           f"{method.decode()} gets nothing")
result(get("/" + "a" * 1000000) != 200, "an address of a megabyte gets nothing")
result(get(secret, more=b"X: " + b"a" * 1000000 + b"\r\n") != 200,
       "a header of a megabyte gets nothing")
result(get(secret, more=b"X: a\r\n" * 100000) != 200, "100,000 headers get nothing")
result(ask(b"POST %s HTTP/1.1\r\nHost: %s:%d\r\nContent-Length: 9999999999999\r\n\r\n" % (
    secret.encode(), host.encode(), port) + b"b" * 1000000) != 200, "nor does a body without end")
result(ask(bytes(range(256)) * 100) in (0, 400, 404), "bytes that are no request get nothing")
served("then the page is there")
slow = [connect() for _ in range(40)]
for i, s in enumerate(slow):
    s.sendall(b"GET " + secret[:i % len(secret)].encode())
served("40 clients that send half of a request stop nobody")
more = []
for _ in range(40):
    try:
        more.append(connect())
    except OSError:
        break
began = time.monotonic()
served("if all connections are taken, the page is there when their time is over")
result(time.monotonic() - began < 80, "  and that is soon", f"{time.monotonic() - began:.1f} s")
for s in slow + more:
    s.close()
for _ in range(500):
    connect().close()
served("500 connections that end at once stop nobody")
grown = memory() - before
result(grown < 32 << 20, "it needs no more memory", grown >> 20, "MiB")
END
python3 "$dir/attack.py" "$url" "$service" >"$dir/results" 2>"$dir/output"
result $? "the attacks were made"
while read -r outcome name; do
	test "$outcome" = good
	result $? "$name"
done <"$dir/results"
ok "it still runs" kill -0 "$service"
done_testing
