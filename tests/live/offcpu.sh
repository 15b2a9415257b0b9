#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program that sleeps known times is off the CPU for at least these, and at most for what passed
# until it went on, where it called for its sleep, and for whom: its chains are the true ones.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
[ "$(id -u)" = 0 ] || skip_all "context switches of the whole machine need root"
need_sampling
cd "$dir" || exit 1

# microseconds PATTERN SESSION: of event OFFCPU in rows that match
microseconds()
{
	opreport --session-dir="$2" -l -n event:OFFCPU |
		awk -v image="$1" '$0 ~ image { n += $1 } END { printf "%.0f\n", n }'
}

# under FUNCTION SESSION: in chains from main through it to the sleep
under()
{
	opreport --session-dir="$2" --folded event:OFFCPU 2>/dev/null | awk -v chain=";main;$1;doze;" '
		$1 ~ /^offcpu_nap;_start;/ && index($1, chain) && $1 ~ /nanosleep$/ { n += $NF }
		END { printf "%.0f\n", n }'
}

# between NAME VALUE LEAST MOST
between()
{
	echo "$2 is not from $3 to $4" >"$dir/output"
	[ "$2" -ge "$3" ] && [ "$2" -le "$4" ]
	result $? "$1"
}

# lost SESSION: whether a machine that does much else left no room for what happened in this one
lost()
{
	[ "$(stat_of "$1" sample_lost_overflow)" != 0 ] || [ "$(stat_of "$1" sideband_lost)" != 0 ]
}

ok "a program that sleeps" operf --driver="$driver" --off-cpu --callgraph -d naps \
	sh -c 'offcpu_nap 20 8 >slept'
has "is sampled by $driver" "^driver: $driver" naps/samples/current/setup
rested=$(awk '$1 == "rest" { print $3 }' slept)
worked=$(awk '$1 == "work" { print $3 }' slept)
# The kernel does not tell of quite every switch: what was not seen is counted.
seen=$((100 - 5 * $(stat_of naps offcpu_lost)))
if lost naps; then
	skip "where it sleeps, how long" "samples of so many switches were lost"
else
	between "in the function that sleeps" "$(microseconds 'nanosleep' naps)" $((6400 * seen)) \
		$(((rested + worked) * 102 / 100))
	between "while the shell waits for it" "$(microseconds 'wait4|waitpid' naps)" 320000 \
		$((rested + worked + 1000000))
fi
# Chains are whole once tables are made, which in the kernel's program takes the first few naps.
between "rest sleeps its own time" "$(under rest naps)" 80000 $((rested * 102 / 100))
between "and work its own" "$(under work naps)" 240000 $((worked * 102 / 100))
if ! lost naps; then
	between "three times as long" $(($(under work naps) * 100 / $(under rest naps))) 240 400
fi
ok "and is sampled as ever" opreport --session-dir=naps event:OFFCPU
has "with a title that says what it is" "^Counted OFFCPU events (Microseconds"
is "each time is counted" "$([ $(($(stat_of naps offcpu_intervals) + $(stat_of naps offcpu_lost))) -ge 40 ] && echo yes)" yes

ok "without chains" operf --driver="$driver" --off-cpu -d flat offcpu_nap 5 8
lost flat || between "it is the same" "$(microseconds 'nanosleep' flat)" \
	$((160000 - 30000 * $(stat_of flat offcpu_lost))) 1600000

ok "one that computes" operf --driver="$driver" --off-cpu -d work ocount_work 0 200
between "does not sleep" "$(microseconds 'nanosleep' work)" 0 0

fails "an argument that nobody knows" 1 oprofiled --ext-feature=offcpu:nonsense --session-dir="$dir/no"
has "is named" "offcpu: 'nonsense' is not 'blocked'"
done_testing
