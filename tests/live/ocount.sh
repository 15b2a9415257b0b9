#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ocount counts programs with known counts, keeps the command's exit status, and reports obstacles.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"
PATH=$OP_BUILD_ROOT/tests/live:$PATH
op-check-perfevents >/dev/null 2>&1 || skip_all "$(op-check-perfevents | head -n 1)"
cd "$dir" || exit 1

# value EVENT FILE: the count in the brief format; the sum where there are several rows.
value()
{
	awk -F, -v event="$1" '$(NF - 2) == event { n += $(NF - 1) } END { printf "%.0f\n", n }' "$2"
}

# between NAME VALUE LEAST MOST
between()
{
	echo "$2 is not from $3 to $4" >"$dir/output"
	[ "$2" -ge "$3" ] && [ "$2" -le "$4" ]
	result $? "$1"
}

ok "a command" ocount -b -f out -e PAGE_FAULTS,TASK_CLOCK ocount_work 1000 300
read -r pages cpu_ns <output
none=$(ocount -b -e PAGE_FAULTS ocount_work 0 0 | sed -n 's/^PAGE_FAULTS,\([0-9]*\),.*/\1/p')
between "its page faults are those pages" "$(($(value PAGE_FAULTS out) - none))" \
	$((pages - 50)) $((pages + 200))
between "its CPU time is what it used" "$(value TASK_CLOCK out)" $((cpu_ns * 97 / 100)) \
	$((cpu_ns * 103 / 100 + 50000000)) # and what it takes to start
is "all of the time" "$(cut -d, -f3 out | sort -u)" 100.00

# Without address randomisation a program faults in the same pages each time, but for one: where its
# environment begins on the stack depends on who starts it.
perf_faults() { setarch -R perf stat -x, -o perf.out -e page-faults,minor-faults ocount_work 500 0; }
if perf_faults >/dev/null 2>&1; then
	ok "as perf stat" setarch -R ocount -b -f out -e PAGE_FAULTS,PAGE_FAULTS_MIN ocount_work 500 0
	pages=$(sed -n 's/^\([0-9]*\),.*page-faults.*/\1/p' perf.out)
	for event in PAGE_FAULTS PAGE_FAULTS_MIN; do
		between "counts $event one by one" "$(value $event out)" $((pages - 1)) $((pages + 1))
	done
fi

ok "kernel and user apart" ocount -b -f out \
	-e PAGE_FAULTS,PAGE_FAULTS:0:1:0,PAGE_FAULTS:0:0:1 ocount_work 500 0
is "add up to both" "$(value PAGE_FAULTS out)" \
	$(($(value PAGE_FAULTS:0:1:0 out) + $(value PAGE_FAULTS:0:0:1 out)))
between "and the pages were touched in user space" "$(value PAGE_FAULTS:0:0:1 out)" 500 1000

ok "threads and children are counted with the command" ocount -b -f out -e TASK_CLOCK \
	sh -c 'ocount_work 0 100 2; ocount_work 0 100 & wait'
between "with all their time" "$(value TASK_CLOCK out)" 400000000 800000000

fails "the command's exit status" 3 ocount -f out sh -c 'exit 3'
fails "the command's signal" 143 ocount -f out sh -c 'kill -TERM $$'
fails "no such command" 127 ocount no-such-command
has "is said" "no-such-command: command not found"
printf 'text\n' >text
fails "a file that is no program" 126 ocount ./text
has "is said" "./text: Permission denied"
ok "options of the command are the command's" ocount -f out sh -c 'test "$1" = --json' sh --json

ok "the default is of use on every machine" ocount -f out true
grep -q '^  TASK_CLOCK  *[0-9,]*  *100.00$' out
result $? "with the CPU time"
if op-check-perfevents | grep -q '^ok *hardware-event'; then
	has "and cycles" "^  C[A-Z_]*CYCLES\|CPU_CLK_UNHALTED" out
else
	is "what is missing is said once" "$(grep -c 'not counted: C.*: this machine' output)" 1
	fails "an event that is asked for must be there" 1 ocount -e default touch made
	has "or is named" "cannot count C.*: this machine does not support the event"
	ok "and then the command does not run" test ! -e made
fi

if [ -e /sys/bus/event_source/devices/msr/events/tsc ] && ocount -f out -e msr/tsc/ true; then
	ok "a PMU of the kernel's" ocount -b -f out -e msr/tsc/,msr~tsc:0:1:1 ocount_work 0 20
	between "counts" "$(sed -n "s|^msr/tsc/,\([0-9]*\),.*|\1|p" out)" 1000000 9000000000000
	is "however it is written" "$(wc -l <out)" 1
	fails "one that is misspelt" 1 ocount -e msr/tcs/ true
	has "names the nearest" "PMU msr has no 'tcs'; did you mean tsc"
fi

ok "one JSON object a line" ocount --json -f out -e PAGE_FAULTS,TASK_CLOCK ocount_work 100 0
is "and no more" "$(grep -c '^{"for":"ocount_work 100 0",.*}$' out)" 1

ocount_work 0 3000 2 >work.out &
work=$!
threads_started() { [ "$(find "/proc/$work/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" = 3 ]; }
wait_for threads_started
ok "threads of a process" ocount -b -t -f out -e TASK_CLOCK,PAGE_FAULTS -i 100:1 -p $work
is "have a row each" "$(grep -c ',TASK_CLOCK,' out)" 3
first=$(find "/proc/$work/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -n 1)
ok "one thread" ocount -b -t -f out -e TASK_CLOCK -i 50:3 -r "$first"
is "three times" "$(grep -c "^$first,TASK_CLOCK," out)" 3
is "with the time before each" "$(grep -c '^timestamp,[0-9]*\.[0-9]$' out)" 3
ok "a process until it ends" ocount -b -f out -e TASK_CLOCK -p $work
wait $work
read -r _ cpu_ns <work.out
# What interrupts and the host took is in the event, not in the process's own time.
between "uses what it used, about" "$(value TASK_CLOCK out)" 1 $((cpu_ns * 2))
fails "a process that is not there" 1 ocount -p $work
has "is said" "no process $work"
fails "nor its thread" 1 ocount -r "$first"

ocount -f out -e TASK_CLOCK sh -c 'trap "exit 5" TERM; echo >ready; while :; do sleep 0.1; done' &
counter=$!
wait_for test -e ready
kill -TERM $counter
wait $counter
is "a signal goes to the command, whose status is kept" "$?" 5
has "and what was counted is printed" "TASK_CLOCK *[1-9]" out

fails "nothing to count" 2 ocount
fails "two things to count" 2 ocount --system-wide true
has "are one too many" "cannot be combined"
fails "CPUs apart where there are none" 2 ocount --separate-cpu true
fails "a misspelt event" 1 ocount -e PAGE_FAULTZ true
has "names the nearest" "did you mean PAGE_FAULTS"
fails "a count" 1 ocount -e PAGE_FAULTS:100:0:1:1 true
has "has no place" "ocount takes no count"
fails "an interval of nothing" 2 ocount -i 0 true
fails "a CPU that is not there" 1 ocount -C 65535
fails "no room for the output" 1 ocount -f /dev/full true
has "is said" "/dev/full: No space left"

if ocount -s -i 1:1 -f out >/dev/null 2>&1; then
	ok "the system" ocount -s -b -c -f out -e TASK_CLOCK -i 200:1
	is "has a row a CPU" "$(grep -c ,TASK_CLOCK, out)" "$(getconf _NPROCESSORS_ONLN)"
	ok "one CPU" ocount -C 0 -b -c -f out -e TASK_CLOCK -i 200:1
	between "is counted for that time" "$(value TASK_CLOCK out)" 190000000 60000000000
fi

if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ]; then
	as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"; }
	# By a shell: setpriv itself still has root's rights when it looks for a program.
	if as_user sh -c "ocount_work 0 0" >/dev/null 2>&1; then
		ok "an ordinary user counts" as_user ocount -e TASK_CLOCK,PAGE_FAULTS ocount_work 100 0
		has "in user space only, and gets a warning" "warning: .*PAGE_FAULTS.*: only user space is counted"
		fails "but not what happens in the kernel" 1 as_user ocount -e CONTEXT_SWITCHES true
		has "and gets the remedy" "perf_event_paranoid"
		ok "the defaults are what is left" as_user ocount true
		fails "the system is not for everyone" 1 as_user ocount -s
		has "and the remedy is given" "perf_event_paranoid"
	fi
fi

done_testing
