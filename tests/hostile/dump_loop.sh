#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Anybody may write to the file dump of oprofilefs. Whoever does so all the time costs the daemon one
# dump a second, and the last write still has its effect.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
ask()
{
	"$OP_BUILD_ROOT/tests/live/control_ask" "$session" "$1"
}

# How often samples were recorded.
recordings() { ask "read stats/sample_dumps" | tr -dc 0-9; }

# ask_on SECONDS REQUEST: asks all the time; how often in $asked, how often samples were recorded
# meanwhile in $recorded.
ask_on()
{
	recorded=$(recordings)
	end=$(($(date +%s) + $1))
	asked=0
	while [ "$(date +%s)" -lt "$end" ]; do
		ask "$2" && ask "$2" && ask "$2" && ask "$2" || return 1
		asked=$((asked + 4))
	done
	recorded=$(($(recordings) - recorded))
}

recorded_more_than() { [ "$(counter total_samples)" -gt "$1" ]; }

keep_busy
ok "sampling" opcontrol --start --session-dir="$session" --event=TIMER:500
ok "samples come" wait_for received_more_than 100
ok "a dump" ask "write dump 1"
ok "requests that change nothing" ask_on 6 "read enable"
unchanged=$recorded
ok "dumps, one after the other" ask_on 6 "write dump 1"
between=$(counter total_samples)
ok "the last one" ask "write dump 1"
ok "  has its effect" wait_for recorded_more_than "$between"
echo "# $asked dumps; samples were recorded $unchanged times without them, $recorded times with them"
# The daemon records on its own, as often as programs start. On request it does so once a second. A slow
# machine asks hardly more often.
test "$recorded" -le $((2 * unchanged + 20)) && { test "$asked" -lt 100 || test "$asked" -gt $((2 * recorded)); }
result $? "most of them cost nothing"
done_testing
