#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Limits of memory, disk, free space and descriptors: what is shed, reported, and restored.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

mkdir "$session"
mount -t tmpfs -o size=16m,mode=755 none "$session" 2>/dev/null || skip_all "cannot mount a tmpfs"
cleanup()
{
	stop_all
	umount -l "$session"
}

shed() { opcontrol --status --json | sed -n 's/^  "shed": "\(.*\)",$/\1/p'; }
is_shed() { [ "$(shed)" = "$1" ]; }
is_any_shed() { [ "$(shed)" != none ]; }
lives_within() { [ "$(status_number memory_kib)" -le "$1" ] || is_shed paused; }
used_kib() { du -sk "$session" | cut -f 1; }
log_has() { grep -q -e "$1" "$session/samples/oprofiled.log"; }

# start OPTION...: with call chains and threads separated, so that there is something to shed.
start()
{
	opcontrol --session-dir="$session" --event=TIMER:500 --separate=thread --callgraph=16 \
		--callgraph-mode=fp --no-vmlinux --max-memory=none --max-disk=none --keep-free=none \
		--max-files=none "$@" --start >"$dir/output" 2>&1
}

# Nothing is received for a while, though the machine is busy.
is_quiet()
{
	before=$(status_number samples_received)
	sleep 0.5
	[ "$(status_number samples_received)" = "$before" ]
}

# Each has sample files of its own.
run_new_programs()
{
	for i in 1 2 3 4 5 6 7 8; do
		cp "$(command -v sh)" "$dir/program$i"
		timeout 0.2 "$dir/program$i" -c 'while :; do :; done'
	done
	true
}

# On a busy machine some of them may run too little to be sampled.
runs_short()
{
	run_new_programs
	is_any_shed
}
pauses()
{
	run_new_programs
	is_shed paused
}

keep_busy

ok "a small disk limit" start --max-disk=1500K
ok "  things are left out" wait_for runs_short
ok "  and at last sampling pauses" wait_for pauses
ok "  which status says" opcontrol --status
has "  with what ran short" "^Limits: *1 MiB of disk, .*; disk ran short: sampling pauses"
ok "  and the log" log_has "disk: sampling pauses until there is room"
# Between two looks it grows by what so many new files take.
ok "  the session keeps to it" test "$(used_kib)" -le 4000
ok "  nothing is sampled meanwhile" wait_for is_quiet
ok "  reset makes room" opcontrol --reset
ok "  so that it goes on" wait_for received_more_than "$before"
ok "  it ends" opcontrol --shutdown
rm -rf "${session:?}"/*

ok "a share of the disk to keep free" start --keep-free=4M
ok "  which there is" wait_for received_more_than 50
is "  nothing is left out" "$(shed)" none
dd if=/dev/zero of="$session/filler" bs=1M count=10 2>/dev/null
ok "  when it is nearly used up things are left out" wait_for is_any_shed
dd if=/dev/zero of="$session/filler2" bs=1M count=3 2>/dev/null
ok "  when it is, sampling pauses" wait_for is_shed paused
rm "$session/filler" "$session/filler2"
before=$(status_number samples_received)
ok "  with room again it goes on" wait_for received_more_than "$before"
ok "  it ends" opcontrol --shutdown
ok "  a pause is counted" test "$(counter shed_pauses)" -ge 1
opreport --session-dir="$session" --merge=all >"$dir/report" 2>/dev/null
has "  and told by reports" "times sampling paused, as memory or disk ran short" "$dir/report"
is "  every sample is accounted for" "$(accounted)" "$(counter sample_received)"
rm -rf "${session:?}"/*

ok "without a limit of memory" start
ok "  it samples" wait_for received_more_than 200
memory=$(status_number memory_kib)
ok "  it ends" opcontrol --shutdown
rm -rf "${session:?}"/*
ok "a limit just above that" start --max-memory=$((memory * 107 / 100))K
ok "  things are left out" wait_for runs_short
ok "  which status says" opcontrol --status
has "  with what ran short" "^Limits: .* of memory, .*; memory ran short: "
ok "  it lives within, or samples no more" wait_for lives_within $((memory * 107 / 100))
ok "  it ends" opcontrol --shutdown
opreport --session-dir="$session" --merge=all >"$dir/report" 2>/dev/null
has "  reports tell" "as memory or disk ran short" "$dir/report"
rm -rf "${session:?}"/*

ok "few descriptors" start --max-files=128
run_new_programs
ok "  it samples" wait_for received_more_than 200
ok "  with no more than those" test "$(status_number descriptors)" -le 128
ok "  and nothing is lost" opcontrol --dump
is "  every sample is accounted for" "$(accounted)" "$(counter sample_received)"
is "  in sample files" "$(counter lost_samplefile)" 0
ok "  it ends" opcontrol --shutdown

for bad in --max-memory=1M --max-disk=much --keep-free=101% --max-files=3; do
	fails "$bad" 2 opcontrol --setup $bad
	has "  is refused" "is not a"
done
done_testing
