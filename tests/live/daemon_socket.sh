# SPDX-License-Identifier: GPL-2.0-or-later
# The control socket: who may use it, and that no client can block the daemon.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
command -v python3 >/dev/null || skip_all "needs python3"
command -v setpriv >/dev/null || skip_all "needs setpriv"

chmod 755 "$dir"
mkdir "$dir/bin"
cp "$(command -v opcontrol)" "$dir/bin"
as_user() # UID GID COMMAND...
{
	uid=$1 gid=$2
	shift 2
	setpriv --reuid="$uid" --regid="$gid" --clear-groups "$dir/bin/opcontrol" "$@"
}

ok "it starts" opcontrol --session-dir="$session" --event=TIMER:500 --start
chmod 644 "$OPROFILE_DAEMONRC"
is "the socket is the owner's alone" "$(stat -c %a "$session/control")" 600
fails "another user may not control it" 1 as_user 12345 12345 --stop
has "  and learns what to do" "sudo opcontrol"
ok "  nor see what it does" as_user 12345 12345 --status
has "  but learns why" "^Daemon: *unknown: this user may not read the session"
ok "shutdown" opcontrol --shutdown
ok "where everybody may read" opcontrol --session-mode=755 --start
ok "  another user sees that it runs" as_user 12345 12345 --status
has "  by its pid" "^Daemon: *running, pid $(daemon_pid); only root can see more"
ok "  and reads the profile" as_user 12345 12345 --status --json
ok "shutdown" opcontrol --shutdown
opcontrol --setup --session-mode=750
ok "with a group" opcontrol --socket-group=nogroup --start
is "  the socket is the group's, too" "$(stat -c '%a %G' "$session/control")" "660 nogroup"
ok "  a member may control it" as_user 12345 nogroup --dump
fails "  another may not" 1 as_user 12345 12345 --dump

# Seven of the eight connections that a user may have, each a nuisance.
cat >"$dir/hostile.py" <<'PYTHON'
import os, socket, sys
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    return s
held = [connect() for _ in range(5)]
held[0].sendall(b"stat")
held[1].sendall(b"status\n" * 100)
held[2].sendall(b"\0\xff\x1b[2J\n" * 50)
endless = connect()
try:
    for _ in range(1000):
        endless.sendall(b"x" * 1000)
    sys.exit("an endless line was taken")
except (BrokenPipeError, ConnectionResetError):
    pass
for _ in range(200):
    connect().close()
open(sys.argv[2], "w").close()
sys.stdin.read()
PYTHON
mkfifo "$dir/hold"
python3 "$dir/hostile.py" "$session/control" "$dir/ready" <"$dir/hold" 2>"$dir/hostile.err" &
exec 9>"$dir/hold"
keep_busy
before=$(status_number resident_kib)
ok "hostile clients are at work" wait_for test -e "$dir/ready"
ok "others are answered" timeout 60 opcontrol --status
ok "it samples on" wait_for received_more_than $(($(status_number samples_received) + 100))
ok "its memory does not follow them" test "$(status_number resident_kib)" -lt $((before + 8192))
exec 9>&-

# What answers them goes before others, and so does what drains; no other thread may.
priorities()
{
	cat "/proc/$pid"/task/*/stat | awk '{ print $41 }' | sort | uniq -c | awk '{ print $2 }' | tr '\n' ' '
}
pid=$(daemon_pid)
case $(grep -h 'requests are answered' "$session/samples/oprofiled.log" | tail -n 1) in
*real-time*) is "some threads have real-time priority" "$(priorities)" "0 2 " ;;
*) skip "some threads have real-time priority" "they may not have it" ;;
esac
drains_first()
{
	test "$(awk '{ print $41 }' "/proc/$pid/task/$pid/stat")" = 2
}
case $(grep -h 'samples are drained' "$session/samples/oprofiled.log" | tail -n 1) in
*real-time*) ok "the thread that drains goes before ordinary ones" wait_for drains_first ;;
*-10*) is "the thread that drains goes before ordinary ones" "$(awk '{ print $19 }' "/proc/$pid/task/$pid/stat")" -10 ;;
*) skip "the thread that drains goes before ordinary ones" "it may not" ;;
esac
# Only the thread that drains, and only if it would not get the priority again otherwise.
keepers=
grep -q '^Max realtime priority *1 ' "/proc/$pid/limits" || keepers=/proc/$pid/task/$pid/status
is "no other thread has kept the right to that" "$(grep -l 'Cap\(Eff\|Prm\):.*[89a-f].....$' \
	"/proc/$pid"/task/*/status)" "$keepers"
ok "shutdown" opcontrol --shutdown
is "the hostile ones met no surprise" "$(cat "$dir/hostile.err")" ""
done_testing
