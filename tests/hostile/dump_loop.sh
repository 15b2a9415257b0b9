#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Anybody may write to the file dump of oprofilefs. Whoever does so all the time costs the daemon one
# dump a second, and the last write still has its effect.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
ask()
{
	"$OP_BUILD_ROOT/tests/live/control_ask" "$session" "$1"
}

# write_on SECONDS: writes all the time; how often in $writes.
write_on()
{
	end=$(($(date +%s) + $1))
	writes=0
	while [ "$(date +%s)" -lt "$end" ]; do
		ask "write dump 1" && ask "write dump 1" && ask "write dump 1" && ask "write dump 1" || return 1
		writes=$((writes + 4))
	done
}

recorded_more_than() { [ "$(counter total_samples)" -gt "$1" ]; }

keep_busy
ok "sampling" opcontrol --start --session-dir="$session" --event=TIMER:500
ok "samples come" wait_for received_more_than 100
ok "a dump" ask "write dump 1"
before=$(counter sample_dumps)
ok "others, one after the other" write_on 6
between=$(counter total_samples)
ok "the last one" ask "write dump 1"
ok "  has its effect" wait_for recorded_more_than "$between"
dumps=$(($(counter sample_dumps) - before))
echo "# $writes writes, $dumps times that samples were recorded"
# The daemon itself records four times a second.
test "$dumps" -le 80 && test "$writes" -gt $((2 * dumps))
result $? "most of them cost nothing"
done_testing
