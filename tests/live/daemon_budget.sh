#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The CPU budget: samples become rarer and count for more, and the profile stays true.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
PATH=$OP_BUILD_ROOT/tests/live:$PATH
seconds=1
hz=4000

# above VALUE LEAST
above() { awk -v v="$1" -v least="$2" 'BEGIN { exit !(v > least) }'; }
is_stretched() { above "$(status_number stretch)" 3; }

# The samples of the program alone.
samples_of()
{
	awk -v image="$1" '$1 ~ /^[0-9]+$/ && $3 == image { n += $1 } END { print n + 0 }' "$dir/report"
}

for driver in bpf perf; do
	rm -rf "$session"
	if ! opcontrol --session-dir="$session" --driver=$driver --event=TIMER:$hz --budget=0.1% \
		--start >"$dir/output" 2>&1; then
		skip "$driver" "$(tail -n 1 "$dir/output")"
		continue
	fi
	keep_busy
	ok "$driver: more than the budget is sampled more rarely" wait_for is_stretched
	ok "  and status says so" opcontrol --status
	has "  with the budget" "^Budget: *0.1 % of each CPU's time, kept by sampling less often: each"
	has "  and the cost" "^Own cost: *[0-9.]* % of the CPUs' time; the daemon"
	kill "$worker"
	truth_chains $seconds 25 75 >/dev/null
	ok "  it ends" opcontrol --shutdown
	opreport --session-dir="$session" -l >"$dir/report" 2>/dev/null
	count=$(samples_of truth_chains)
	echo "# $driver: $count samples for $((seconds * hz)), $(counter sample_stretched) not taken"
	# How true they are is tests/unit/test_stretch.c's matter: here the weights are the machine's.
	ok "  a program has samples" test "$count" -gt 0
	is "  every sample is accounted for" "$(accounted)" "$(counter sample_received)"
	has "  the report says what was done" "^Quality: [0-9]* samples taken, which stand for [0-9]* (the CPU budget skipped others \[sample_stretched\]), " "$dir/report"
	ok "  received is what they stand for" test "$(counter sample_received)" -gt \
		"$(counter sample_stretched)"
done

rm -rf "$session"
ok "without a budget" opcontrol --session-dir="$session" --driver=auto --budget=none --start
ok "  samples come" wait_for received_more_than 50
is "  as often as was asked for" "$(status_number stretch)" 1.00
ok "  status" opcontrol --status
is "  has no budget" "$(grep -c ^Budget "$dir/output")" 0
ok "  it ends" opcontrol --shutdown
fails "a budget that is none" 2 opcontrol --setup --budget=200%
has "  is refused" "--budget: '200%' is not a percentage"
done_testing
