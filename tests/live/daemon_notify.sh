# SPDX-License-Identifier: GPL-2.0-or-later
# The daemon's messages to a service manager, on an abstract socket like that of systemd's user
# manager.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
command -v python3 >/dev/null || skip_all "needs python3"

cat >"$dir/manager.py" <<'PYTHON'
import os, socket, subprocess, sys
name = "oplive-%d" % os.getpid()
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("\0" + name)
s.settimeout(60)
# What it logs goes elsewhere: lines of both would run into each other.
daemon = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    env=dict(os.environ, NOTIFY_SOCKET="@" + name, WATCHDOG_USEC="200000"))
os.environ.pop("WATCHDOG_PID", None)
watchdogs = 0
while True:
    for line in s.recv(4096).decode().splitlines():
        if line == "WATCHDOG=1":
            watchdogs += 1
            if watchdogs == 2:
                print("WATCHDOG=1 twice", flush=True)
                daemon.terminate()
        else:
            print(line.replace("MAINPID=%d" % daemon.pid, "MAINPID=its own"), flush=True)
        if line == "STOPPING=1":
            sys.exit(daemon.wait())
PYTHON
ok "a run under a manager" python3 "$dir/manager.py" oprofiled --foreground --start \
	--session-dir="$session" --events=TIMER:100
has "it says when it is ready" "^READY=1$"
has "  and who it is" "^MAINPID=its own$"
has "  and what it does" "^STATUS=sampling (\(bpf\|perf\): "
has "it gives the signs of life asked for" "^WATCHDOG=1 twice$"
has "it says that it ends" "^STOPPING=1$"
done_testing
