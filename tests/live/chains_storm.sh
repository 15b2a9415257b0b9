#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs come and go as fast as possible, each from a file of its own that needs an unwind table
# and sample files, while call chains of the whole machine are taken: every loss is counted, and the
# daemon ends normally.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
driver=${OP_DRIVER:-bpf}
storm=$OP_BUILD_ROOT/tests/live/truth_storm
operf --driver="$driver" --session-dir="$dir/first" true >"$dir/output" 2>&1 ||
	skip_all "$(tail -n 1 "$dir/output")"

# storm FIRST LAST: programs with these numbers, one after the other, each of which runs itself thrice.
storm()
{
	i=$1
	while [ "$i" -le "$2" ]; do
		cp "$storm" "$dir/program$i" && "$dir/program$i" 3 >/dev/null || return
		rm "$dir/program$i"
		i=$((i + 1))
	done
}

# Both must have gone well.
two_storms()
{
	storm 1 25 &
	other=$!
	storm 101 125
	here=$?
	wait "$other" && [ $here = 0 ]
}

sum_of_chains() { awk '{ n += $1 } END { print n + 0 }' "$session"/samples/current/stats/chain_*; }
stored_chains()
{
	opreport --session-dir="$session" --folded 2>/dev/null | awk '{ n += $NF } END { print n + 0 }'
}
programs() { find "$session/samples/current" -type d -name 'program[0-9]*' | grep -c "{root}$dir/program[0-9]*\$"; }

opcontrol --setup --session-dir="$session" >/dev/null
ok "a daemon that takes chains" oprofiled --session-dir="$session" --driver="$driver" \
	--separate=library,kernel --events=TIMER:4000 --callgraph=64 --start
pid=$(daemon_pid)
ok "fifty programs, two at a time, run and are gone" two_storms
ok "what was sampled so far is written" opcontrol --dump
ok "as many again run" two_storms
ok "stop" opcontrol --stop
is "every sample is accounted for" "$(accounted)" "$(counter sample_received)"
chains=$(sum_of_chains)
is "each that was recorded has its chain" "$chains" "$(counter samples)"
is "  which is stored, or counted as lost" \
	$(($(stored_chains) + $(counter chains_lost) + $(counter shed_chains))) "$chains"
ok "programs that are gone have samples" test "$(programs)" -gt 0
ok "the session is whole" opcheck "$session"
ok "the daemon ends" opcontrol --shutdown
ended() { ! readlink "/proc/${pid:-self}/exe" >/dev/null; }
ok "  and is gone" wait_for ended
done_testing
