#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program that sleeps known times is off the CPU for at least these, and at most for what passed
# until it went on, where it called for its sleep.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"
PATH=$OP_BUILD_ROOT/tests/live:$PATH
[ "$(id -u)" = 0 ] || skip_all "context switches of the whole machine need root"
op-check-perfevents >/dev/null 2>&1 || skip_all "$(op-check-perfevents | head -n 1)"
cd "$dir" || exit 1

# The microseconds of event OFFCPU in rows that match $1; $2: the session.
microseconds()
{
	opreport --session-dir="$2" -l -n event:OFFCPU |
		awk -v image="$1" '$0 ~ image { n += $1 } END { printf "%.0f\n", n }'
}

# between NAME VALUE LEAST MOST
between()
{
	echo "$2 is not from $3 to $4" >"$dir/output"
	[ "$2" -ge "$3" ] && [ "$2" -le "$4" ]
	result $? "$1"
}

ok "a program that sleeps" operf --off-cpu -d naps sh -c 'offcpu_nap 7 60 >slept'
read -r asked passed <slept
between "in the function that sleeps" "$(microseconds 'nanosleep' naps)" "$asked" "$passed"
between "while the shell waits for it" "$(microseconds 'wait' naps)" "$asked" $((passed + 500000))
ok "and is sampled as ever" opreport --session-dir=naps event:OFFCPU
has "with a title that says what it is" "^Counted OFFCPU events (Microseconds"

ok "one that computes" operf --off-cpu -d work ocount_work 0 200
between "does not sleep" "$(microseconds 'nanosleep' work)" 0 0

fails "an argument that nobody knows" 1 oprofiled --ext-feature=offcpu:nonsense --session-dir="$dir/no"
has "is named" "offcpu: 'nonsense' is not 'blocked'"
done_testing
