#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program that sleeps for known times is off the CPU for at least these, and at most until it runs
# again. The time is attributed to the call that sleeps, with the true call chains.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
[ "$(id -u)" = 0 ] || skip_all "context switches of the whole machine need root"
need_sampling
cd "$dir" || exit 1

# microseconds PATTERN SESSION: of event OFFCPU in rows that match
microseconds()
{
	opreport --session-dir="$2" -l -n event:OFFCPU |
		awk -v image="$1" '$0 ~ image { n += 1000 * $1 } END { printf "%.0f\n", n }'
}

# under FUNCTION SESSION: in chains from main through it to the sleep
under()
{
	opreport --session-dir="$2" --folded event:OFFCPU 2>/dev/null | awk -v chain=";main;$1;doze;" '
		$1 ~ /^offcpu_nap;_start;/ && index($1, chain) && $1 ~ /nanosleep$/ { n += $NF }
		END { printf "%.0f\n", n }'
}

# told COLUMN FILE [FUNCTION]: what the program said of itself: 2: microseconds asked for, 3: passed
told()
{
	awk -v column="$1" -v name="${3:-.}" '$1 ~ name { n += $column } END { print n + 0 }' "$2"
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

now_us() { echo $(($(date +%s%N) / 1000)); }

has_chains() { [ "$(under rest naps)" -gt 0 ] && [ "$(under work naps)" -gt 0 ]; }

# Chains are whole once tables are made, by a thread that waits for the CPU as all do: the twenty naps
# of which all is known are those after the first whole chains.
began=$(now_us)
operf --driver="$driver" --off-cpu=idle --callgraph -d naps \
	sh -c 'offcpu_nap 20 8 whole >slept; true' >"$dir/output" 2>&1 &
profiler=$!
wait_for has_chains
touch whole
wait $profiler
result $? "a program that sleeps"
passed=$(($(now_us) - began))
has "is sampled by $driver" "^driver: $driver" naps/samples/current/setup
if lost naps; then
	skip "where it sleeps, how long" "samples of so many switches were lost"
else
	# The kernel does not report every single switch: unseen ones are counted.
	unseen=$(stat_of naps offcpu_lost)
	between "in the function that sleeps" "$(microseconds 'nanosleep' naps)" \
		$(($(told 2 slept) * 98 / 100 - unseen * 24000)) $(($(told 3 slept) * 102 / 100))
	[ "$unseen" != 0 ] || between "while the shell waits for it" \
		"$(microseconds 'wait4|waitpid' naps)" $(($(told 2 slept) * 98 / 100)) "$passed"
	between "rest sleeps its own time" "$(under rest naps)" $((160000 * 98 / 100 - unseen * 8000)) \
		$(($(told 3 slept rest) * 102 / 100))
	between "and work its own" "$(under work naps)" $((480000 * 98 / 100 - unseen * 24000)) \
		$(($(told 3 slept work) * 102 / 100))
	ok "each time is counted" test $(($(stat_of naps offcpu_intervals) + unseen)) -ge 40
	# Twenty times 8 ms and twenty times 24 ms, squared, and the waits of the shell.
	ok "with its square" test "$(stat_of naps offcpu_squares)" -ge $((12000 - unseen * 576))
fi
ok "and is sampled as ever" opreport --session-dir=naps event:OFFCPU
has "with a title that says what it is" "^Counted OFFCPU events (Microseconds"
has "in milliseconds" "^ *ms| *%|"

ok "without chains" sh -c "operf --driver='$driver' --off-cpu -d flat offcpu_nap 5 8 >slept"
lost flat || between "it is the same" "$(microseconds 'nanosleep' flat)" \
	$((160000 * 98 / 100 - 24000 * $(stat_of flat offcpu_lost))) $(($(told 3 slept) * 102 / 100))

ok "one that computes" operf --driver="$driver" --off-cpu -d work ocount_work 0 200
ok "is sampled" test "$(stat_of work sample_received)" -ge 20
between "does not sleep" "$(microseconds 'nanosleep' work)" 0 0

# Waits of 200 ms, each for its own reason, in functions that say which.
reasons=reasons,idle,min=100ms
[ "$driver" = bpf ] || reasons=idle,min=100ms
ok "a program that waits for all reasons" sh -c "operf --driver='$driver' --off-cpu=$reasons \
	--callgraph -d waits offcpu_waits 200 >waited 2>said"
has "operf says how long" "; [0-9.]* ms off the CPU in [0-9]* interval" said
if [ "$driver" = perf ]; then
	for wait in lock shared io sleep fault idle; do
		ok "in for_$wait" sh -c "opreport --session-dir=waits --folded event:OFFCPU |
			grep -q ';for_$wait[; ]'"
	done
	fails "its reasons are not known to perf" 1 operf --driver=perf --off-cpu=lock -d no true
	fails "nor who ends a wait" 1 operf --driver=perf --off-cpu=wakers -d no true
else
	for wait in lock shared io sleep fault idle; do
		name=OFFCPU_$(echo $wait | tr a-z A-Z)
		event=$name
		[ $wait != shared ] || event=OFFCPU_LOCK
		opreport --session-dir=waits --folded event:$event >folded
		has "in for_$wait is $event" ";for_$wait[; ]" folded
		# One that is preempted before it waits is woken at the same time.
		ok "of the length that passed" awk -v us="$(told 2 waited "$name")" -v at=";for_$wait" '
			index($0, at) { n += $NF }
			END { exit !(n >= 150000 && n <= us * 1.02) }' folded
	done
	ok "without idle waits" operf --driver=bpf --off-cpu --callgraph -d busy offcpu_waits 20
	opreport --session-dir=busy --folded event:OFFCPU >folded
	has "there are others" ";for_lock[; ]" folded
	ok "there are none" sh -c "! grep ';for_idle' folded"

	cp "$(command -v operf)" own_operf
	ok "the profiler itself on the whole machine" \
		./own_operf --driver=bpf -s --off-cpu=lock,io --callgraph --duration=2s -d own
	opreport --session-dir=own --all >"$dir/output"
	has "it is not left out" "own_operf$"
	for event in OFFCPU_LOCK OFFCPU_IO; do
		opreport --session-dir=own --folded "event:$event" 2>/dev/null
	done >folded
	# Each of its threads that waited for work outside of poll() would have waited all the time.
	ok "its threads that wait for work are idle" awk '
		/^own_operf/ { n += $NF } END { print n + 0 " us"; exit !(n < 2000000) }' folded

	ok "who ends the waits" sh -c "operf --driver=bpf --off-cpu=idle,wakers,min=10ms -d woken \
		offcpu_waits 20 >waited"
	opreport --session-dir=woken --folded event:OFFCPU >folded
	for wait in lock shared io fault idle; do
		has "of for_$wait is the thread that ends it" \
			";for_$wait;\(.*;\)*\[woken by the waker\] " folded
	done
	has "of for_sleep is a timer" ";for_sleep;.*;\[woken by interrupt\] " folded
	ok "and nobody else" sh -c "! grep ';main;for_' folded |
		grep -v 'woken by the waker\|for_sleep;.*woken by interrupt'"
	operf --driver=bpf --off-cpu=queue,wakers -d queue sh -c \
		'offcpu_nap 5 8 & ocount_work 0 100 & ocount_work 0 100 & wait' >"$dir/output" 2>&1
	ok "a task that waits for a CPU is woken by nobody" sh -c \
		"! opreport --session-dir=queue --folded event:OFFCPU_QUEUE | grep woken"
	fails "wakers need call chains" 1 operf --off-cpu=wakers --callgraph=0 -d no true
	has "says so" "only driver bpf knows wakers; it shows them in call chains"
fi

fails "an argument that nobody knows" 1 oprofiled --ext-feature=offcpu:nonsense --session-dir="$dir/no"
has "is named" "offcpu: 'nonsense' is not one of reasons, lock,"
done_testing
