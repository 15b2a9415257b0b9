#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A disk that takes seconds for a write, as a frozen file system does: samples are drained meanwhile, with
# each driver, and none is lost.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
frozen_s=${OP_FROZEN_SECONDS:-3}
mnt=$dir/mnt session=$dir/mnt/session
for command in fsfreeze mkfs.ext4 mount; do
	command -v "$command" >/dev/null || skip_all "needs $command"
done
mkdir "$mnt"
truncate -s 64M "$dir/disk"
mkfs.ext4 -q "$dir/disk" && mount -o loop "$dir/disk" "$mnt" 2>/dev/null ||
	skip_all "cannot mount a file system of its own"
cleanup()
{
	fsfreeze -u "$mnt" 2>/dev/null
	stop_all
	umount -l "$mnt"
}

# Freezes the file system while samples come and while there is something for the log; the last drain
# before it is over waits for nothing.
freeze()
{
	fsfreeze -f "$mnt" && kill -ALRM "$daemon" && sleep "$frozen_s"
	fsfreeze -u "$mnt"
}

keep_new_programs
for driver in bpf perf; do
	may_use "$driver" || continue
	ok "$driver: the daemon starts" opcontrol --start --driver="$driver" --callgraph=32 \
		--event=TIMER:500 --session-dir="$session" --verbose=debug
	daemon=$(daemon_pid)
	[ -n "$daemon" ] || continue
	ok "$driver: samples come" wait_for received_more_than 500
	for _ in 1 2 3; do
		freeze
		sleep 1
	done
	longest=$(status_number busy_longest_ms)
	echo "# $driver: $frozen_s s without a disk: at most $longest ms between two drains"
	grep -h 'no drain for' "$session/samples/oprofiled.log" | sort -k6nr | head -n 3 | sed 's/^/# /'
	test "${longest%.*}" -lt $((frozen_s * 1000 / 4))
	result $? "$driver: it drains without a disk"
	ok "$driver: samples can be recorded" opcontrol --dump
	is "$driver: the kernel lost none" "$(counter sample_lost_overflow)" 0
	is "$driver: every one has a file" "$(counter lost_samplefile)" 0
	ok "$driver: it ends" timeout 60 opcontrol --shutdown
	ok "$driver: no file is damaged" opcheck "$session"
	rm -rf "$session"
done

# The longest time in which the daemon did not tell its manager, to which it is to speak every second, that
# it lives, while the file system was frozen.
cat >"$dir/manager.py" <<'PYTHON'
import os, socket, subprocess, sys, time
mnt, seconds = sys.argv[1:3]
name = "oplive-%d" % os.getpid()
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("\0" + name)
s.settimeout(60)
daemon = subprocess.Popen(sys.argv[3:], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    env=dict(os.environ, NOTIFY_SOCKET="@" + name, WATCHDOG_USEC="1000000"))
os.environ.pop("WATCHDOG_PID", None)
frozen, count, longest, last = None, 0, 0, time.monotonic()
while True:
    message, now = s.recv(4096).decode(), time.monotonic()
    if "STOPPING=1" in message:
        print("%d ms" % (longest * 1000))
        sys.exit(daemon.wait())
    if message != "WATCHDOG=1":
        continue
    count += 1
    if frozen:
        longest = max(longest, now - last)
        if frozen.poll() is not None:
            daemon.terminate()
    elif count == 3:
        frozen = subprocess.Popen(["sh", "-c", "fsfreeze -f $0 && sleep $1; fsfreeze -u $0", mnt, seconds])
    last = now
PYTHON
if command -v python3 >/dev/null; then
	ok "a run under a manager" timeout 120 python3 "$dir/manager.py" "$mnt" 12 oprofiled --foreground --start \
		--session-dir="$session" --events=TIMER:500
	echo "# it heard nothing for $(cat "$dir/output") at most"
	test "$(sed -n 's/ ms$//p' "$dir/output")" -lt 8000
	result $? "  which hears that it lives, without a disk"
else
	skip "a run under a manager" "needs python3"
fi
done_testing
