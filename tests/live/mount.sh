# SPDX-License-Identifier: GPL-2.0-or-later
# oprofilefs mounted: a whole session by echo and cat, and what remains if one side dies.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

fs=$dir/fs
unmount_all()
{
	[ -z "$worker" ] || kill "$worker" 2>/dev/null
	umount -l "$fs" 2>/dev/null
	stop_all
}
cleanup()
{
	unmount_all
}

# Pids of the process that serves $fs and of the one that waits for its end.
find_processes()
{
	guard=
	server=
	for stat in /proc/[0-9]*/stat; do
		set -- $(cat "$stat" 2>/dev/null)
		[ "${2:-}" = "(oprofilefs)" ] && [ "$3" != Z ] || continue
		tr '\0' ' ' <"/proc/$1/cmdline" | grep -q " $fs " || continue
		grep -q "^PPid:.$guard\$" "/proc/$1/status" && server=$1 || guard=$1
	done
}

mounted()
{
	grep -q " $fs fuse.oprofilefs " /proc/mounts
}

not_mounted()
{
	! mounted
}

switches()
{
	awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum }' "/proc/$server/status" \
		"/proc/$guard/status"
}

put() # FILE VALUE
{
	echo "$2" >"$fs/$1"
}

received_by_file()
{
	[ "$(cat "$fs/stats/sample_received")" -gt "$1" ]
}

chmod 755 "$dir"
opcontrol --session-dir="$session" --event=TIMER:300 --start-daemon >"$dir/output" 2>&1 ||
	skip_all "no daemon here: $(cat "$dir/output")"
opcontrol --mount="$fs" >"$dir/output" 2>&1 9<"$dir" ||
	skip_all "nothing can be mounted here: $(cat "$dir/output")"
find_processes
ok "two processes" test -n "$server" -a -n "$guard"
is "  of which one serves without any right" \
	"$(sed -n 's/^CapEff:.//p' "/proc/$server/status")" 0000000000000000
# Whoever started it may wait for the end of what it prints, or unmount where it stood.
is "  and nothing of its caller's is held" \
	"$(readlink "/proc/$server/fd/"* "/proc/$guard/fd/"* "/proc/$server/cwd" "/proc/$guard/cwd" |
		grep -v -e '^/$' -e '^/dev/null$' -e '^/dev/fuse$' -e '^anon_inode:' -e '^socket:')" ""
fails "mounting twice" 1 opcontrol --mount="$fs"
has "  says so" "$fs: oprofilefs is already mounted there"

fails "hiding the session" 1 opcontrol --mount="$session/samples/.."
has "  is refused" "would hide the session"

# A session by echo and cat.
is "the type of the CPU" "$(cat "$fs/cpu_type")" timer
is "the events" "$(cat "$fs/0/event" "$fs/0/count" "$fs/0/enabled" | tr '\n' ' ')" "0 300 1 "
ok "an event by name" put 0/event TASK_CLOCK
ok "  how often, in hexadecimal" put 0/count 0x1e8480
is "  is read in decimal" "$(cat "$fs/0/count")" 2000000
fails "a value that is none" 1 sh -c "env echo often >'$fs/0/count'"
has "  is invalid" "Invalid argument"
fails "a value that is too long" 1 sh -c "printf '%0999d' 1 >'$fs/0/count'"
fails "a file that there is not" 2 sh -c "echo 1 >'$fs/nothing'"
fails "a file that cannot be written" 1 sh -c "chmod 600 '$fs/cpu_type'"
ok "enable" put enable 1
is "  is on" "$(cat "$fs/enable")" 1
keep_busy
ok "samples come" wait_for received_by_file 300
fails "a setting meanwhile" 1 sh -c "env echo 1 >'$fs/0/count'"
has "  is busy" "Device or resource busy"
ok "dump" put dump 1
is "nothing is lost" "$(cat "$fs/stats/sample_lost_overflow")" 0
ok "stop" put enable 0
is "the CPUs' samples add up" "$(cat "$fs"/stats/cpu*/sample_received | awk '{ sum += $1 } END { print sum }')" \
	"$(cat "$fs/stats/sample_received")"
ok "report" opreport --session-dir="$session" --symbols
has "  is of what was asked for" "TASK_CLOCK"
ok "every file can be read" sh -c "cd '$fs' && grep -rc . --exclude=dump --exclude=buffer ."
ok "  and every cookie is a file's" test -n "$(cat "$fs/cookies/$(ls "$fs/cookies" | head -n 1)")"

# Who may do what.
if command -v setpriv >/dev/null; then
	as_user="setpriv --reuid=12345 --regid=12345 --clear-groups"
	ok "others may read" $as_user cat "$fs/stats/sample_received"
	fails "  but not enable" 2 $as_user sh -c "echo 1 >'$fs/enable'"
	fails "  nor see what is run" 1 $as_user cat "$fs/cookies/$(ls "$fs/cookies" | head -n 1)"
	fails "    or how much of it" 2 $as_user ls "$fs/cookies"
	fails "  nor read samples" 1 $as_user cat "$fs/buffer"
	ok "  and may have dumped" $as_user sh -c "echo 1 >'$fs/dump'"
fi

# Nothing wakes up while nobody asks; the kernel may still have to report what was just closed.
idle_for_a_second()
{
	before=$(switches)
	sleep 1
	[ "$(switches)" = "$before" ]
}
ok "mounted and idle, nothing runs" wait_for idle_for_a_second

# Deaths.
pid=$(daemon_pid)
kill -9 "$pid"
ok "without a daemon" wait_for test ! -e "/proc/$pid/exe"
fails "  files cannot be read" 1 cat "$fs/enable"
has "    as nobody answers" "Connection refused"
ok "  the directory is there" test -d "$fs"
ok "with another daemon" opcontrol --start-daemon
is "  they can" "$(cat "$fs/enable")" 0
kill -9 "$server"
ok "the server's death unmounts" wait_for not_mounted
ok "mounting again" opcontrol --mount="$fs"
find_processes
kill -9 "$guard"
is "without its guard it serves on" "$(cat "$fs/enable")" 0
ok "  and can be unmounted" opcontrol --umount="$fs"
ok "    which ends it" wait_for test ! -e "/proc/$server/exe"
fails "  once" 1 opcontrol --umount="$fs"
opcontrol --mount="$fs"
find_processes
kill -9 "$guard" "$server"
ok "both killed" wait_for test ! -e "/proc/$server/exe"
ok "  leave a mount that the next one replaces" opcontrol --mount="$fs"
is "    and that is alive" "$(cat "$fs/enable")" 0
find_processes
kill "$guard"
ok "a signal ends it all" wait_for not_mounted
opcontrol --mount="$fs"
umount "$fs"
find_processes
ok "umount does, too" wait_for test -z "$server$guard"
ok "shutdown" opcontrol --shutdown
done_testing
