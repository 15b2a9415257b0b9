#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel runs no program of a perf event while one of a tracepoint runs on that CPU. The samples
# that are missing then are counted, so that nothing is lost silently.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_root
need_sampling
operf --session-dir="$dir/try" --driver=bpf true >"$dir/output" 2>&1 ||
	skip_all "$(tail -n 1 "$dir/output")"
grep -q "^event: TIMER " "$dir/try/samples/current/setup" || skip_all "samples by a counter"
tracing=$dir/tracing
mkdir "$tracing"
cleanup()
{
	umount "$tracing" 2>/dev/null
}
mount -t tracefs tracing "$tracing" 2>"$dir/output" || skip_all "no tracepoints"
id=$(cat "$tracing/events/syscalls/sys_enter_sched_get_priority_max/id" 2>/dev/null) ||
	skip_all "system calls have no tracepoints"
busy_traced 0 "$id" >"$dir/output" 2>&1 || skip_all "$(tail -n 1 "$dir/output")"
driver=bpf
rate=997
seconds=3

# about NAME: samples taken and skipped are as many as there were ticks, by a tenth.
about()
{
	taken=$(stat_of "$1" samples)
	skipped=$(stat_of "$1" sample_lost_skipped)
	echo "$taken taken, $skipped skipped"
	all=$((taken + skipped))
	[ $((all * 10)) -gt $((seconds * rate * 9)) ] && [ $((all * 10)) -lt $((seconds * rate * 11)) ]
}

ok "a program of a tracepoint works" profile busy busy_traced "$seconds" "$id"
ok "  what is skipped is counted" about busy
sed 's/^/# /' "$dir/output"
ok "  which is the most" test "$skipped" -gt "$taken"
ok "  operf says so" grep -q "another BPF program was running" "$dir/busy.log"
ok "  the report, too" sh -c "opreport --session-dir='$dir/busy' 2>&1 | grep 'another BPF program was running'"

ok "no such program works" profile idle truth_chains "$seconds" 25 75
skipped=$(stat_of idle sample_lost_skipped)
echo "# $skipped skipped"
ok "  next to nothing is skipped" test "$skipped" -le 30
done_testing
