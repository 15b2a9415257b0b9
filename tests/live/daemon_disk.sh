# SPDX-License-Identifier: GPL-2.0-or-later
# Disks that are full or cannot be written: the message is clear, and what was recorded stays.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

mkdir "$session"
mount -t tmpfs -o size=8m,mode=755 none "$session" 2>/dev/null || skip_all "cannot mount a tmpfs"
cleanup()
{
	stop_all
	umount -l "$session"
}
log_has() { grep -q -e "$1" "$session/samples/oprofiled.log"; }

no_daemon() { [ -z "$(daemon_pid)" ]; }

# New programs need new sample files.
run_new_programs()
{
	for i in 1 2 3 4 5 6; do
		cp "$(command -v sh)" "$dir/program$i"
		timeout 0.3 "$dir/program$i" -c 'while :; do :; done'
	done
	true
}

# What happens where no limit keeps the disk from being full.
echo "KEEP_FREE=none" >>"$OPROFILE_DAEMONRC"
keep_busy
ok "it starts" opcontrol --session-dir="$session" --event=TIMER:500 --start
ok "samples come" wait_for received_more_than 100
ok "they are dumped" opcontrol --dump
kept=$(counter samples)
dd if=/dev/zero of="$session/filler" bs=64k 2>/dev/null
dd if=/dev/zero of="$session/filler2" bs=1 count=4096 2>/dev/null
is "the disk is full" "$(df --output=avail "$session" | tail -1 | tr -d ' ')" 0
# On a busy machine some of them may run too little to be sampled.
dump_fails()
{
	run_new_programs
	! opcontrol --dump >"$dir/output" 2>&1
}
ok "a dump says so" wait_for dump_fails
has "  in plain words" "No space left on device"
ok "the daemon lives" opcontrol --status
has "  and says what is wrong" "No space left on device\|could not be written\|file open failure"
ok "the session can be saved" opcontrol --save=full
ok "  and is there" test "$(counter samples full)" -ge "$kept"
kept=$(counter samples)
rm "$session/filler" "$session/filler2"
ok "with room again" opcontrol --dump
ok "  it records on" test "$(counter samples)" -gt "$kept"
ok "  and says again what is sampled" test -s "$session/samples/current/setup"
is "  and every sample is accounted for" "$(($(accounted) + $(accounted full)))" \
	"$(($(counter sample_received) + $(counter sample_received full)))"
ok "the end" opcontrol --shutdown

# What has ended may still be about to close its files.
ok "the disk becomes read-only" wait_for mount -o remount,ro "$session"
fails "on a read-only disk it does not start" 1 opcontrol --start
has "  and says why" "Read-only file system"
has "  naming the place" "$session"
ok "what was recorded can be read" test "$(counter samples)" -gt "$kept"
mount -o remount,rw "$session"

ok "it starts again" opcontrol --start
wait_for received_more_than 100
find "$session" -name 'TIMER.*' -exec truncate -s 0 {} +
ok "sample files cut short under it end it" wait_for no_daemon
ok "  with the file's name" log_has "cannot write to $session/samples/current/{.*cut short"
ok "  it starts again" opcontrol --start
ok "  and samples" wait_for received_more_than 100
ok "  it ends" opcontrol --shutdown

fails "a session directory that is a file" 1 oprofiled --session-dir="$OPROFILE_DAEMONRC"
has "  is named" "$OPROFILE_DAEMONRC"
done_testing
