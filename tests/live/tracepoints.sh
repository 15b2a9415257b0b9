#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel's tracepoints are events, by the names that perf has for them: what a program is known to
# do often is sampled and counted as often.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"
PATH=$OP_BUILD_ROOT/tests/live:$PATH
events=/sys/kernel/tracing/events
[ "$(id -u)" = 0 ] || skip_all "tracepoints need root"
op-check-perfevents >/dev/null 2>&1 || skip_all "$(op-check-perfevents | head -n 1)"
# In a mount namespace of its own, so that nothing is left mounted.
if [ ! -d $events/sched ] && [ -z "${OP_OWN_MOUNTS:-}" ]; then
	OP_OWN_MOUNTS=1 exec unshare -m sh "$0" "$@"
fi
[ -d $events/sched ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null ||
	skip_all "this kernel has no tracefs"
[ -d $events/syscalls ] || skip_all "this kernel has no tracepoints of system calls"
cd "$dir" || exit 1

# Twice 20 naps of a millisecond, each a clock_nanosleep(2).
sleeps=syscalls:sys_enter_clock_nanosleep
ok "sampled" operf -g -e $sleeps -d naps offcpu_nap 20 1
is "each time" "$(opreport --session-dir=naps -n event:$sleeps | awk '$2 == "100.000" { print $1; exit }')" 40
ok "with its callers" sh -c "opreport --session-dir=naps --folded | grep -q ';main;work;doze;'"
has "by driver perf" "^driver: perf" naps/samples/current/setup
ok "counted" ocount -b -f counts -e tracepoint:$sleeps offcpu_nap 20 1
is "are as many" "$(sed -n 's/.*nanosleep,\([0-9]*\),.*/\1/p' counts)" 40
ok "found by ophelp" sh -c 'ophelp --search=sched_switch | grep "^sched:sched_switch:"'

# A probe in user space that somebody defined: its samples are in the function itself.
probes=/sys/kernel/tracing/uprobe_events
offset=$(nm "$OP_BUILD_ROOT/tests/live/offcpu_nap" | sed -n 's/^0*\([0-9a-f]*\) t doze$/\1/p')
if [ -n "$offset" ] && echo "p:op_test_$$/doze $OP_BUILD_ROOT/tests/live/offcpu_nap:0x$offset" >>$probes; then
	ok "a uprobe" operf -e op_test_$$:doze -d probe offcpu_nap 20 1
	echo "-:op_test_$$/doze" >>$probes
	opreport --session-dir=probe -l -n >"$dir/calls"
	is "is sampled at the function's first instruction, each time" "$(awk '{ print $1, $4 }' calls)" "40 doze"
else
	skip "a uprobe" "this kernel has none"
fi

# The same without anything defined before.
nap=$OP_BUILD_ROOT/tests/live/offcpu_nap
if [ -e /sys/bus/event_source/devices/uprobe ]; then
	ok "a function by its name" operf -g -e "uprobe:$nap:doze" -d named offcpu_nap 20 1
	opreport --session-dir=named -l -n >"$dir/calls"
	is "is sampled each time" "$(awk '{ print $1, $4 }' calls)" "40 doze"
	ok "with its callers" sh -c "opreport --session-dir=named --folded | grep -q ';main;work;doze 20'"
	# Every fourth, on one CPU: each counts for itself. Nobody else runs this file.
	cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
	ok "when it returns" operf -e "uretprobe:$nap:doze:4" -d returns taskset -c "$cpu" offcpu_nap 20 1
	opreport --session-dir=returns -l -n >"$dir/calls"
	is "in its caller" "$(awk '{ print $1, $4 }' calls)" "10 work"
	ok "counted" ocount -b -f counts -e "uprobe:$nap:doze,uretprobe:offcpu_nap:doze" offcpu_nap 20 1
	is "both are as many" "$(sed -n 's/^u.*doze,\([0-9]*\),.*/\1/p' counts | tr '\n' ' ')" "40 40 "
	fails "a place outside of the file" 1 operf -e "uprobe:$nap:0x7fffffff0" -d no true
	has "is named" "the kernel cannot probe $nap there"
	fails "an ordinary user" 1 setpriv --reuid=65534 --regid=65534 --clear-groups ocount -e "uprobe:$nap:doze" true
	has "is told what it takes" "Permission denied: a probe in a file takes CAP_SYS_ADMIN, one in the kernel CAP_PERFMON: run operf or ocount as root"
else
	skip "a function by its name" "this kernel has no uprobes"
fi

# Marks of a program, of which one is only reached while its semaphore says that somebody waits for it.
cat >marked.c <<'END'
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#include <unistd.h>
#define SEMAPHORE __attribute__((used, section(".probes")))
__extension__ unsigned short mine_plain_semaphore SEMAPHORE, mine_asked_semaphore SEMAPHORE;
int main(void)
{
	alarm(120);
	for (int i = 0; i < 40; i++) {
		STAP_PROBE1(mine, plain, i);
		if (*(volatile unsigned short *)&mine_asked_semaphore)
			STAP_PROBE1(mine, asked, i);
		usleep(5000);
	}
}
END
if [ -e /sys/bus/event_source/devices/uprobe ] && cc -o marked marked.c 2>/dev/null; then
	for mark in plain asked; do
		ok "the mark $mark" operf -e "usdt:$dir/marked:mine:$mark" -d "mark.$mark" ./marked
		opreport --session-dir="mark.$mark" -l -n >"$dir/calls"
		is "is sampled each time" "$(awk '{ print $1, $4 }' calls)" "40 main"
	done
	sed -i 's/i < 40/i >= 0/' marked.c
	cc -o marked marked.c
	./marked &
	marked=$!
	ok "the mark of a process that runs" operf --duration=3s -e "usdt:$dir/marked:mine:asked" -d running -p $marked
	kill $marked
	opreport --session-dir=running -l -n >"$dir/calls"
	has "is sampled, too" "^[1-9][0-9]* .* main$" calls
else
	skip "the marks of a program" "needs cc and sys/sdt.h, and a kernel with uprobes"
fi

fails "one that is not there" 1 operf -e sched:sched_swich -d no true
has "is named, and the one that was meant" "no tracepoint sched:sched_swich; did you mean sched:sched_switch?"
fails "the driver bpf" 1 operf --driver=bpf -e $sleeps -d no true
has "says who can" "tracepoints and probes are sampled by driver perf"
done_testing
