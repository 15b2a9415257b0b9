#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Code that the kernel generates for tracing has names in a profile, even if it appeared during
# sampling and was gone before anybody could look: trampolines of ftrace and BPF, kprobe pages.
# OP_DRIVER selects the driver.
[ "${1:-}" = inside ] || ! unshare -m true 2>/dev/null || exec unshare -m sh "$0" inside
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_root
need_sampling
command -v busy_probed >/dev/null || skip_all "built without BPF"
cd "$dir" || exit 1
tracing=/sys/kernel/tracing
probes=/sys/kernel/debug/kprobes/list

mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null # both may be there
mount -t tracefs tracefs "$tracing" 2>/dev/null
[ -e "$tracing/current_tracer" ] || skip_all "the kernel has no tracefs"
function=$(grep -o -m 1 "^__[a-z0-9]*_sys_sched_get_priority_max" "$tracing/available_filter_functions" 2>why) ||
	skip_all "no function of this kernel can be traced: $(cat why)"

# made_PROBE and removed_PROBE: the kernel makes that code, and throws it away. For the command that is
# profiled, too.
cat >probing <<END
cd $tracing

# What is traced is not kept: so more of the time is the trampoline's.
made_ftrace()
{
	mkdir instances/op && echo 0 >instances/op/tracing_on &&
		echo $function >instances/op/set_ftrace_filter &&
		echo function >instances/op/current_tracer
}
removed_ftrace()
{
	rmdir instances/op
}

# At the first instruction where the kernel optimises the probe, if there is any.
made_kprobes()
{
	for offset in 4 5 6 7 8 9 10 11 12 13 14; do
		echo "p:op/probe $function+\$offset" >>kprobe_events || continue
		echo 1 >events/op/enable
		tries=20
		until grep OPTIMIZED $probes >$dir/optimised || [ \$tries = 0 ]; do
			tries=\$((tries - 1))
			sleep 0.1
		done
		[ ! -s $dir/optimised ] || break
		removed_kprobes
	done 2>/dev/null
}
removed_kprobes()
{
	[ -e events/op ] || return 0
	echo 0 >events/op/enable
	echo "-:op/probe" >>kprobe_events
}

made_fentry()
{
	attach=$function
}
removed_fentry()
{
	attach=
}

# probed SECONDS PROBE...: so much time in a function that is probed, by one after the other.
probed()
{
	seconds=\$1
	shift
	for probe; do
		attach=
		made_\$probe && busy_probed "\$seconds" \$attach
		removed_\$probe
	done
}
END

cleanup()
{
	(. "$dir/probing"; removed_ftrace; removed_kprobes) >/dev/null 2>&1
}

# count SESSION IMAGE SYMBOL: samples.
count()
{
	awk -v image="$2" -v symbol="^$3\$" '$3 == image && $NF ~ symbol { n += $1 } END { print n + 0 }' \
		"$dir/$1.report"
}

# named SESSION IMAGE SYMBOL: the symbol has samples; prints how many.
named()
{
	n=$(count "$@")
	cp "$dir/$1.report" output
	ok "  $3 has its name" test "$n" -gt 0
	echo "# $n samples"
}

all="ftrace fentry"
busy_probed 0 "$function" 2>why || all=ftrace
# A probe that is not optimised is in its page for an instruction only.
[ -e "$tracing/kprobe_events" ] && [ -e "$probes" ] && all="$all kprobes"

ok "code that traces: $all" profile traced sh -c ". $dir/probing; probed 3 $all"
named traced __builtin__ftrace ftrace_trampoline
case $all in
*fentry*) named traced bpf "bpf_trampoline_[0-9]*" ;;
*) skip "  trampolines of BPF" "$(cat why)" ;;
esac
if [ -s optimised ]; then
	named traced __builtin__kprobes kprobe_optinsn_page
else
	skip "  pages of kprobes" "no probe was optimised"
fi
unknown=$(count traced unknown '.*')
ok "  nothing in the kernel is unknown" test $((unknown * 100)) -le "$(sum_of traced.report)"

ok "call chains" profile chains -g sh -c ". $dir/probing; probed 3 ftrace"
opreport --session-dir="$dir/chains" --folded >output 2>&1
has "  go through it" ";ftrace_trampoline_.k.;"
done_testing
