#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# More different call chains occur than the BPF program can hold until the daemon collects them:
# their samples are still counted, those without callers under that name, and later chains are
# complete.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
PATH=$OP_BUILD_ROOT/tests/live:$PATH
operf --driver=bpf --session-dir="$dir/first" --callgraph true >"$dir/output" 2>&1 ||
	skip_all "$(tail -n 1 "$dir/output")"
pid=
cleanup()
{
	[ -z "$pid" ] || kill -CONT "$pid" 2>/dev/null
	stop_all
}

# whole: samples of the program with its chain.
whole()
{
	opreport --session-dir="$session" --folded image:"*truth_many" 2>/dev/null |
		awk '/;outer;inner;leaf [0-9]+$/ { n += $NF } END { print n + 0 }'
}
# reaches NUMBER: whether there are as many, after some more.
reaches()
{
	truth_many 0.2 && opcontrol --dump >/dev/null && [ "$(whole)" -ge "$1" ]
}

# stands_still COMMAND...: the daemon, while the command runs.
stands_still()
{
	kill -STOP "$pid"
	"$@"
	status=$?
	kill -CONT "$pid"
	return $status
}

# Room for many more samples than for chains, of which 32768 are known at a time.
opcontrol --setup --session-dir="$session" >/dev/null
ok "a daemon that takes chains of three frames" oprofiled --session-dir="$session" --driver=bpf \
	--events=TIMER:7919 --callgraph=3 --cpu-buffer-size=1048576 --start
pid=$(daemon_pid)
ok "the first have their callers" wait_for reaches 100
ok "sixty thousand come that nobody takes" stands_still truth_many 8
ok "dump" opcontrol --dump
ok "some have no room, which is counted" test "$(counter unwound_full)" -ge 1000
ok "later ones have their callers" wait_for reaches $(($(whole) + 1000))

ok "stop" opcontrol --stop
is "every sample is accounted for" "$(accounted)" "$(counter sample_received)"
is "each that was recorded has a chain" \
	"$(awk '{ n += $1 } END { print n }' "$session"/samples/current/stats/chain_*)" "$(counter samples)"
# What had no room for its chain and was lost then is in both.
lost=$(($(counter sample_lost_overflow) + $(counter sample_lost_no_path) + $(counter total_samples) -
	$(counter samples)))
full=$(counter unwound_full)
without=$(counter chain_no_room)
echo "$full without callers, of $without is that the end, $lost lost" >"$dir/output"
[ "$without" -le "$full" ] && [ $((without + lost)) -ge "$full" ]
result $? "those without callers end because there is no room"
opreport --session-dir="$session" --chains --quality --top=1 >"$dir/quality" 2>&1
has "a report says so" "^Note: $full samples without their callers: too many call chains" "$dir/quality"
has "  in the line of quality, too" "^Call chains: .*[0-9.]* % no_room" "$dir/quality"
has "  with its meaning" "^no_room: too many different call chains at once" "$dir/quality"
is "  and has as many of them" \
	"$(awk '$3 == "no_room" { n += $1 } END { print n + 0 }' "$dir/quality")" "$without"
is "all are in the store" \
	"$(opreport --session-dir="$session" --folded | awk '{ n += $NF } END { print n }')" "$(counter samples)"
ok "shutdown" opcontrol --shutdown
done_testing
