#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The history: a window of time has the samples that were taken in it, and all of it has all samples.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_root
need_sampling

for name in first second; do
	cp "$(command -v sh)" "$dir/$name"
done

# samples_of DRIVER PROGRAM WORD: those of the program in a report.
samples_of()
{
	opreport --session-dir="$dir/$1" "$3" 2>"$dir/why" |
		awk -v p="$2" '!/^\t/ && $3 == p { n = $1 } END { print n + 0 }'
}
# Losses on a busy machine are those of the whole session.
totals() { opreport --session-dir="$dir/$1" -l "$2" 2>/dev/null | grep -v "^Time\|^Lost\|^CPU\|^Session\|^Note"; }
at() { echo "@$(($1 + $2))"; }
# chains_of DRIVER PROGRAM WORD: the samples of the program's call chains; of all without one.
chains_of()
{
	opreport --session-dir="$dir/$1" --folded "$3" 2>"$dir/why" |
		awk -v p="$2" 'p == "" || index($0, p) == 1 { n += $NF } END { print n + 0 }'
}
folded() { opreport --session-dir="$dir/$1" --folded "$2" 2>/dev/null | sort; }

# Each driver samples its own programs, at the same time. The windows are counted from when these began,
# and reach no other program with the slice of 10 s at their edges.
begin=$(date +%s)
for driver in bpf perf; do
	operf --session-dir="$dir/$driver" --driver=$driver --callgraph sh -c "
		date +%s >'$dir/$driver.first'
		timeout 23 '$dir/first' -c 'while :; do :; done'
		date +%s >'$dir/$driver.second'
		timeout 23 '$dir/second' -c 'while :; do :; done'; true" >"$dir/$driver.log" 2>&1 &
	echo $! >"$dir/$driver.pid"
done
for driver in bpf perf; do
	wait "$(cat "$dir/$driver.pid")"
	status=$?
	cp "$dir/$driver.log" "$dir/output"
	result $status "driver $driver works"
	early="time:$(at "$(cat "$dir/$driver.first")" 3)..$(at "$(cat "$dir/$driver.first")" 11)"
	late="time:$(at "$(cat "$dir/$driver.second")" 13)..$(at "$(cat "$dir/$driver.second")" 17)"
	opreport --session-dir="$dir/$driver" "$early" | sed 's/^/# /' | head -8
	is "$driver: the first part has none of the second" "$(samples_of $driver second "$early")" 0
	ok "  but those of the first" test "$(samples_of $driver first "$early")" -gt 0
	is "  the last part has none of the first" "$(samples_of $driver first "$late")" 0
	ok "  but those of the second" test "$(samples_of $driver second "$late")" -gt 0
	is "  nor of its call chains" "$(chains_of $driver first "$late")" 0
	is "  the call chains of that time are those of its samples" \
		"$(chains_of $driver second "$late")" \
		"$(samples_of $driver second "$late")"
	ok "  the call graph is that of the time" sh -c \
		"opreport --session-dir='$dir/$driver' --callgraph '$late' |
			grep -q second &&
		! opreport --session-dir='$dir/$driver' --callgraph '$late' |
			grep -q first"
	folded $driver time:.. >"$dir/by-time"
	folded $driver session:current >"$dir/whole"
	ok "  all call chains are in some time" diff "$dir/by-time" "$dir/whole"
	is "  opcheck finds nothing" "$(opcheck "$dir/$driver" 2>&1 | grep -c damaged)" 0
	totals $driver time:.. >"$dir/by-time"
	totals $driver session:current >"$dir/whole"
	ok "  all times together are the whole session" diff "$dir/by-time" "$dir/whole"
	ok "  the header says which time it is" sh -c \
		"opreport --session-dir='$dir/$driver' time:.. | grep -q '^Time: .* slices'"
	opreport --session-dir="$dir/$driver" "time:$(at "$begin" -100)..$(at "$begin" -50)" \
		>"$dir/before" 2>&1
	ok "  nothing was sampled before" grep -q "no samples were taken" "$dir/before"
done
done_testing
