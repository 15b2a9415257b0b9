#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A session that is removed while the daemon writes it: the daemon says how many samples are lost, writes the
# next ones to another session, and ends as soon as it is told to, with a status that says so.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

log=$session/samples/oprofiled.log
# It does not fail to say so in the log, which may be removed afterwards, and says so again at its end.
says_so()
{
	grep -q 'error: .*/samples/current was removed while it was written: [1-9][0-9]* samples are lost' "$dir/stderr"
}
# At once, or the daemon would make files that are removed, too.
remove()
{
	mv "$1" "$dir/removed"
	rm -rf "$dir/removed"
}
has_ended() { ! kill -0 "$daemon" 2>/dev/null || grep -q '^State:.Z' "/proc/$daemon/status"; }

start()
{
	output=$dir/stderr background oprofiled --foreground --session-dir="$session" --start --events=TIMER:500 \
		--callgraph=16 --separate=all --driver="$driver" "$@"
	daemon=$pid
	wait_for received_more_than 200
}

# ends NAME: SIGTERM ends it, soon even on a busy machine.
ends()
{
	kill -TERM "$daemon"
	before=$(date +%s%3N)
	wait_for has_ended
	took=$(($(date +%s%3N) - before))
	echo "# $driver: $took ms"
	wait "$daemon"
	is "$1" $? 3
	ok "  within half a minute" test "$took" -lt 30000
	has "  the log says why" 'error: [1-9][0-9]* samples are lost: their session was removed' "$log"
	fails "  it was refused no system call" 1 grep 'is refused\|was refused' "$dir/stderr"
}

cleanup()
{
	stop_all
	end_background
	[ -z "$worker" ] || kill "$worker" 2>/dev/null
}

ok "setup" opcontrol --setup --session-dir="$session"
keep_new_programs
for driver in bpf perf; do
	may_use "$driver" || continue
	for what in "$session/samples/current" "$session"; do
		: >"$dir/stderr"
		ok "$driver: it samples" start
		mode=$(stat -c %a "$session") socket=$(stat -c %a:%u:%g "$session/control")
		remove "$what"
		ok "${what#"$dir/"} is removed: it says how many samples are lost" wait_for says_so
		ok "  the next session says what is sampled" wait_for test -s "$session/samples/current/setup"
		fails "  no other daemon writes it" 1 oprofiled --session-dir="$session" --foreground
		has "    because this one does" "is already being written by pid $daemon"
		if [ "$what" = "$session" ]; then
			ok "  the control socket is made again" wait_for test -S "$session/control"
			is "    for the same users" "$(stat -c %a:%u:%g "$session/control")" "$socket"
			ok "    the log says so" wait_for grep -q 'it and the control socket were made again' "$dir/stderr"
		fi
		ok "  samples come" wait_for received_more_than $(($(status_number samples_received) + 100))
		ends "  SIGTERM ends it, with a status that says so"
		is "  the directory has the mode of the old one" "$(stat -c %a "$session")" "$mode"
		is "  every sample has a file, or a name for its loss" "$(accounted)" "$(counter sample_received)"
		ok "  those that were removed, too" test "$(counter lost_samplefile)" -ge 1
		ok "  no file is damaged" opcheck "$session"
		rm -rf "$session"
		: >"$dir/stderr"
		ok "  it samples again" start
		remove "$what"
		ends "  removed just before the end: the status says so"
		rm -rf "$session"
	done
done

# Whoever moves a session has it closed with SIGHUP.
driver=auto
ok "it samples" start
mv "$session/samples/current" "$session/samples/moved"
kill -HUP "$daemon"
ok "a session that is moved is not lost" wait_for test -d "$session/samples/current"
rm -rf "$session/samples/moved"
ok "  samples come" wait_for received_more_than $(($(status_number samples_received) + 100))
ok "  the end" opcontrol --shutdown
wait "$daemon"
is "  the status says so" $? 0
done_testing
